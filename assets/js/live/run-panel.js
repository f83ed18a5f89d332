// The panel of an exercise: editor, buttons, what was printed, and the report of the check.
import { edit } from "./editor.js";
import { Python } from "./run-python.js";

const WORDS = {
  zh: {
    code: "你的代码",
    run: "运行",
    stop: "停止",
    reset: "重置",
    undo: "撤销重置",
    hint: "Ctrl+Enter（Mac 上是 ⌘+Enter）运行。Tab 缩进；先按 Esc，再按 Tab，离开编辑器。写下的内容保存在这个浏览器里，刷新后还在。",
    torch: "浏览器里没有 PyTorch：这里的 torch 是一个小替身，只有本练习用得到的张量运算。检查用的是构建时录下的答案，本页没有载入参考解答。",
    meter: "Python 的加载进度",
    loading: (share) => `正在加载 Python：${share}%`,
    starting: "正在启动 Python……",
    ready: "Python 已就绪。",
    waiting: "Python 就绪后立即运行。",
    running: "正在运行……",
    done: (seconds) => `运行完毕，用时 ${seconds} 秒。`,
    error: "你的代码出错了，见下方。",
    time: "超过 4 秒没有结束，已停止。是不是有死循环？Python 正在重新启动。",
    reader: "已停止。Python 正在重新启动。",
    broken: "Python 崩溃了，正在重新启动。多半是无穷递归，或者内存用尽。",
    failed: "Python 没能加载。请检查网络，再按一次“运行”。",
    resetDone: "已恢复成最初的骨架。",
    undone: "已恢复你的代码。",
    printed: "输出",
    report: "检查结果",
    traceback: "你的代码抛出了异常",
  },
  en: {
    code: "Your code",
    run: "Run",
    stop: "Stop",
    reset: "Reset",
    undo: "Undo reset",
    hint: "Ctrl+Enter (⌘+Enter on a Mac) runs. Tab indents; Esc and then Tab leaves the editor. What you write is kept in this browser and is there after a reload.",
    torch:
      "A browser has no PyTorch: torch is a small stand-in here, with the tensor operations that this exercise needs. The checks compare with answers recorded when the book was built; the reference solution has not been loaded.",
    meter: "Loading of Python",
    loading: (share) => `Loading Python: ${share}%`,
    starting: "Starting Python…",
    ready: "Python is ready.",
    waiting: "Will run as soon as Python is ready.",
    running: "Running…",
    done: (seconds) => `Done in ${seconds} s. `,
    error: "Your code has an error, shown below.",
    time: "Stopped: it had not ended after 4 seconds. An endless loop? Python is starting again.",
    reader: "Stopped. Python is starting again.",
    broken: "Python crashed and is starting again. The likely cause is endless recursion, or no memory left.",
    failed: "Python could not be loaded. Check the network and press Run again.",
    resetDone: "Back to the skeleton.",
    undone: "Your code is back.",
    printed: "Output",
    report: "Result of the check",
    traceback: "Your code raised",
  },
};

// One Python for the page; whoever opens a panel watches it being loaded.
let python;
const watchers = new Set();
let state = 0;
function pythonOf(bytes) {
  python ??= new Python(bytes, (now) => {
    state = now;
    for (const watch of watchers) watch(now);
  });
  return python;
}

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text) made.textContent = text;
  return made;
}

function button(className, text, press) {
  const made = element("button", className, text);
  made.type = "button";
  made.addEventListener("click", press);
  return made;
}

// `host` is the mtp-run-here element in `cell`; the check is the page's next cell.
export function openPanel(host, cell, language) {
  new Panel(host, cell, WORDS[language]).show();
}

class Panel {
  constructor(host, cell, words) {
    this.host = host;
    this.cell = cell;
    this.words = words;
    const cells = [...document.querySelectorAll("article .cell")];
    this.check = cells[cells.indexOf(cell) + 1].querySelector(".cell_input pre").textContent;
    this.python = pythonOf(Number(cell.dataset.bytes));
  }

  show() {
    const { words, host } = this;
    const place = element("div", "run-editor");
    const hint = element("p", "run-hint", words.hint);
    hint.id = `${host.key}-hint`;
    this.runButton = button("run-go", words.run, () => this.run());
    this.stopButton = button("run-stop", words.stop, () => this.python.stop?.("reader"));
    this.stopButton.hidden = true;
    this.undoButton = button("run-undo", words.undo, () => this.undo());
    this.undoButton.hidden = true;
    const bar = element("div", "run-bar");
    bar.append(this.runButton, this.stopButton, button("run-reset", words.reset, () => this.reset()), this.undoButton);
    this.meter = element("progress", "run-progress");
    this.meter.max = 1;
    this.meter.setAttribute("aria-label", words.meter);
    this.status = element("p", "run-status");
    this.status.setAttribute("role", "status");
    this.output = element("div", "run-output");
    host.replaceChildren(place, bar, this.meter, this.status, this.output, hint, element("p", "run-hint", words.torch));
    this.cell.querySelector(".cell_input").hidden = true;
    this.editor = edit(place, {
      text: host.saved() ?? host.text,
      label: words.code,
      describedBy: hint.id,
      run: () => this.run(),
      changed: () => this.changed(),
    });
    watchers.add((now) => this.watch(now));
    this.watch(state);
    this.editor.focus();
  }

  changed() {
    this.host.save(this.editor.text);
    this.undoButton.hidden = true;
  }

  // Shows how far Python is; what a run has to say is not talked over.
  watch(now) {
    const loading = typeof now === "number";
    this.meter.hidden = !loading;
    if (loading) this.meter.value = now;
    // Each tenth is said once: a live region that changes all the time cannot be listened to.
    const step = loading ? Math.floor(now * 10) * 10 : now;
    if (step === this.step || this.busy || this.stopped) return;
    this.step = step;
    this.say(loading ? (now < 1 ? this.words.loading(step) : this.words.starting) : this.words[now]);
  }

  say(text) {
    this.status.textContent = text;
  }

  async run() {
    if (this.busy) return;
    const { words } = this;
    this.busy = true;
    this.stopped = false;
    this.runButton.setAttribute("aria-disabled", "true");
    this.output.replaceChildren();
    this.editor.mark(0);
    this.say(state === "ready" ? words.running : words.waiting);
    let started = 0;
    const begun = () => {
      started = performance.now();
      this.stopButton.hidden = false;
      this.say(words.running);
    };
    const result = await this.python.run(this.editor.text, this.check, begun, (text) => this.print(text));
    this.busy = false;
    if (document.activeElement === this.stopButton) this.runButton.focus();
    this.stopButton.hidden = true;
    this.runButton.removeAttribute("aria-disabled");
    this.report(result, ((performance.now() - started) / 1000).toFixed(1));
    // With Ctrl+Enter in a long editor, what came may be out of sight.
    if (this.output.getBoundingClientRect().top > innerHeight - 120) this.status.scrollIntoView({ block: "center" });
  }

  print(text) {
    let pre = this.output.querySelector(".run-printed");
    if (!pre) {
      pre = element("pre", "run-printed");
      this.output.append(element("p", "run-title", this.words.printed), pre);
    }
    pre.append(text);
  }

  report(result, seconds) {
    const { words } = this;
    if (result.stopped) {
      this.stopped = true;
      this.say(words[result.stopped]);
    } else if (result.error) {
      this.output.append(element("p", "run-title", words.traceback), element("pre", "run-error", result.error));
      this.editor.mark(result.line ?? 0);
      this.say(words.error);
    } else {
      const report = element("div", "run-report");
      // Written by the book's own report, which escapes what the reader wrote.
      if (result.html) report.innerHTML = result.html;
      else report.append(element("pre", "", result.text));
      this.output.append(element("p", "run-title", words.report), report);
      const sum = report.querySelector("p")?.textContent ?? "";
      this.say(words.done(seconds) + sum);
    }
  }

  reset() {
    if (this.editor.text === this.host.text) return;
    this.before = this.editor.text;
    this.editor.text = this.host.text;
    this.undoButton.hidden = false;
    this.say(this.words.resetDone);
  }

  undo() {
    this.editor.text = this.before;
    this.say(this.words.undone);
    this.editor.focus();
  }
}
