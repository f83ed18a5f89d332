// Below the skeleton of an exercise: a button that brings an editor and Python into the page. Until it is pressed nothing more is loaded.
const language = document.documentElement.dataset.language;
const words = {
  zh: {
    start: "在本页运行",
    again: "在本页继续",
    size: (size) => `从本站加载编辑器与 Python，约 ${size} MB；代码只在你的浏览器里运行。`,
    loading: "正在加载编辑器……",
    failed: "编辑器没能加载。本页要通过 HTTP 打开，例如运行 make serve；否则请检查网络后重试。",
  },
  en: {
    start: "Run it here",
    again: "Go on here",
    size: (size) => `Loads an editor and Python from this site, about ${size} MB. Your code runs in your browser only.`,
    loading: "Loading the editor…",
    failed: "The editor could not be loaded. The page has to be opened over HTTP, for example by make serve; otherwise check the network and try again.",
  },
}[language];

class RunHere extends HTMLElement {
  connectedCallback() {
    const cell = this.parentElement;
    const source = cell.querySelector(".cell_input pre");
    this.text = source.textContent.replace(/\n$/, "");
    // Work belongs to the exercise, whatever the language of the page.
    const name = /^(?:class|def) (\w+)/m.exec(this.text)[1];
    this.key = `mtp-work-${name}`;
    this.button = Object.assign(document.createElement("button"), { type: "button", className: "run-start" });
    this.note = Object.assign(document.createElement("p"), { className: "run-note", textContent: words.size(cell.dataset.download) });
    this.note.setAttribute("role", "status");
    this.button.textContent = this.saved() === null ? words.start : words.again;
    this.button.addEventListener("click", () => this.open(cell));
    this.append(this.button, this.note);
  }

  saved() {
    try {
      return localStorage.getItem(this.key);
    } catch {
      return null;
    }
  }

  save(text) {
    try {
      if (text === this.text) localStorage.removeItem(this.key);
      else localStorage.setItem(this.key, text);
    } catch {
      // Storage may be switched off or full; the work then lasts as long as the page.
    }
  }

  async open(cell) {
    this.button.disabled = true;
    this.note.textContent = words.loading;
    const panel = await import("./run-panel.js").catch(() => null);
    if (panel) panel.openPanel(this, cell, language);
    else {
      this.note.textContent = words.failed;
      this.button.disabled = false;
    }
  }
}

customElements.define("mtp-run-here", RunHere);
for (const cell of document.querySelectorAll('[data-live="run-here"]')) cell.append(document.createElement("mtp-run-here"));
