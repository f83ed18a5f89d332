// Python in a worker, one for all exercises of a page. A run that does not end is ended with its worker; a new one is started at once.
const LIMIT = 4000;

export class Python {
  // `bytes` is what the worker will load; `tell` is told how far that is, from 0 to 1, and then "ready" or "failed".
  constructor(bytes, tell) {
    this.bytes = bytes;
    this.tell = tell;
    this.start();
  }

  start() {
    this.lost = false;
    this.ready = new Promise((resolve) => {
      const fail = () => {
        this.lost = true;
        this.worker.terminate();
        this.tell("failed");
        resolve();
      };
      this.worker = new Worker(new URL("./run-worker.js", import.meta.url), { type: "module" });
      this.worker.onmessage = ({ data }) => {
        if (data.loaded !== undefined) this.tell(Math.min(1, data.loaded / this.bytes));
        else if (data.ready) {
          this.tell("ready");
          resolve();
        } else if (data.failed) fail();
        else this.answer?.(data);
      };
      this.worker.onerror = (event) => {
        event.preventDefault();
        fail();
      };
    });
  }

  // Waits for Python, calls `begun`, and runs `source` and the page's `check`; `print` is handed what is printed as it comes. Resolves
  // to what runner.py returns, or to { stopped } with why the worker was ended: "time", "reader", "broken", or "failed" if Python
  // could not be loaded at all.
  run(source, check, begun, print) {
    // One at a time: two exercises of a page may both be started.
    this.last = (this.last ?? Promise.resolve()).then(() => this.runNext(source, check, begun, print));
    return this.last;
  }

  async runNext(source, check, begun, print) {
    if (this.lost) this.start();
    await this.ready;
    if (this.lost) return { stopped: "failed" };
    begun();
    return new Promise((resolve) => {
      const finish = (result) => {
        clearTimeout(timer);
        this.answer = this.stop = null;
        resolve(result);
      };
      this.stop = (why) => {
        this.worker.terminate();
        this.start();
        finish({ stopped: why });
      };
      const timer = setTimeout(() => this.stop("time"), LIMIT);
      this.answer = (data) => {
        if (data.printed !== undefined) print(data.printed);
        // Python itself gave up, as after endless recursion: nothing of it can be used again.
        else if (data.broken) this.stop("broken");
        else finish(data.result);
      };
      this.worker.postMessage({ source, check });
    });
  }
}
