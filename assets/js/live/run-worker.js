// Python (Pyodide) in a worker: unpacks the checks, then runs what it is sent. All files come from the site itself.
import { loadPyodide } from "../pyodide/pyodide.mjs";

const home = new URL("../pyodide/", import.meta.url).href;
// A loop that prints must not fill the reader's memory.
const MOST_PRINTED = 20000;
let loaded = 0;
let printed = 0;

function count(bytes) {
  loaded += bytes;
  postMessage({ loaded });
}

// Every file passes through here, so that the page can show how far it is.
const load = self.fetch;
self.fetch = async (address, options) => {
  const answer = await load(address, options);
  if (!answer.ok || !answer.body) return answer;
  const headers = new Headers(answer.headers);
  // Python is compiled while it arrives, if the type is right; some servers do not know it.
  if (String(address.url ?? address).endsWith(".wasm")) headers.set("content-type", "application/wasm");
  const counted = new TransformStream({
    transform(chunk, controller) {
      count(chunk.byteLength);
      controller.enqueue(chunk);
    },
  });
  return new Response(answer.body.pipeThrough(counted), { status: answer.status, headers });
};

// What Python writes, line by line as to a terminal.
function writer() {
  const decoder = new TextDecoder();
  const write = (bytes) => {
    const text = decoder.decode(bytes, { stream: true });
    if (printed <= MOST_PRINTED) {
      printed += text.length;
      postMessage({ printed: printed > MOST_PRINTED ? "…\n" : text });
    }
    return bytes.length;
  };
  return { write, isatty: true };
}

async function start() {
  const archive = fetch(new URL("./exercises.zip", import.meta.url)).then((answer) => {
    if (!answer.ok) throw new Error(`exercises.zip: ${answer.status}`);
    return answer.arrayBuffer();
  });
  const python = await loadPyodide({ indexURL: home });
  python.setStdout(writer());
  python.setStderr(writer());
  python.unpackArchive(await archive, "zip", { extractDir: "/home/pyodide" });
  return python.pyimport("runner");
}

const runner = start();
runner.then(
  () => postMessage({ ready: true }),
  (error) => postMessage({ failed: String(error) }),
);

onmessage = async ({ data }) => {
  printed = 0;
  try {
    postMessage({ result: JSON.parse((await runner).run(data.source, data.check)) });
  } catch (error) {
    postMessage({ broken: String(error) });
  }
};
