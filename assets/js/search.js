// The search dialog: Pagefind's index of this language, results as links, all by keyboard as well.
const site = new URL("..", import.meta.url);
let dialog, input, status, list, engine;

function build(words) {
  dialog = document.createElement("dialog");
  dialog.className = "finder";
  dialog.setAttribute("aria-label", words.search);
  dialog.innerHTML = `<form role="search"><svg class="icon" aria-hidden="true"><use href="#i-search"/></svg><input type="search" autocomplete="off" spellcheck="false"><button type="button"></button></form><p role="status" aria-live="polite"></p><ol></ol>`;
  [input, status, list] = ["input", "[role=status]", "ol"].map((selector) => dialog.querySelector(selector));
  const close = dialog.querySelector("button");
  input.placeholder = words.search_placeholder;
  input.setAttribute("aria-label", words.search_placeholder);
  close.textContent = words.close;
  close.addEventListener("click", () => dialog.close());
  dialog.querySelector("form").addEventListener("submit", (event) => {
    event.preventDefault();
    list.querySelector("a")?.click();
  });
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("keydown", move);
  input.addEventListener("input", () => run(words));
  document.body.append(dialog);
}

// Arrows go from the field through the results and back.
function move(event) {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  const stops = [input, ...list.querySelectorAll("a")];
  const at = stops.indexOf(document.activeElement);
  event.preventDefault();
  stops[(at + (event.key === "ArrowDown" ? 1 : stops.length - 1)) % stops.length].focus();
}

async function load() {
  engine = await import(new URL("pagefind/pagefind.js", site).href);
  await engine.options({ baseUrl: site.pathname, excerptLength: document.documentElement.lang.startsWith("zh") ? 24 : 22 });
  await engine.init();
}

async function run(words) {
  const query = input.value.trim();
  if (!query) {
    list.replaceChildren();
    status.textContent = words.search_hint;
    return;
  }
  let found;
  try {
    if (!engine) await load();
    found = await engine.debouncedSearch(query, {}, 120);
  } catch {
    engine = undefined;
    status.textContent = words.search_failed;
    return;
  }
  if (!found) return; // a later keystroke has taken over
  const results = await Promise.all(found.results.slice(0, 8).map((result) => result.data()));
  if (query !== input.value.trim()) return;
  list.replaceChildren(...results.flatMap(entries));
  status.textContent = (results.length ? words.search_some : words.search_none).replace("{count}", found.results.length).replace("{query}", query);
}

// A page, and below it the section that fits best.
function entries(page) {
  const best = page.sub_results.find((part) => part.anchor && part.title !== page.meta.title);
  const shown = [entry(page.meta.title, page.excerpt, page.url)];
  if (best) shown.push(entry(`${page.meta.title} › ${best.title.replace(/#$/, "")}`, best.excerpt, best.url));
  return shown.slice(0, best && best.excerpt === page.excerpt ? 1 : 2);
}

function entry(title, excerpt, url) {
  const item = document.createElement("li");
  item.innerHTML = `<a><strong></strong><span></span></a>`;
  item.firstChild.href = url;
  item.querySelector("strong").textContent = title.replace(/#$/, "");
  item.querySelector("span").innerHTML = excerpt; // Pagefind escapes the text and adds <mark>
  item.firstChild.addEventListener("click", () => dialog.close());
  return item;
}

export function open(words, opener) {
  if (!dialog) build(words);
  if (dialog.open) return;
  status.textContent = input.value ? status.textContent : words.search_hint;
  dialog.showModal();
  dialog.addEventListener("close", () => opener.focus(), { once: true });
  input.focus();
  input.select();
  if (!engine) load().catch(() => (engine = undefined));
}
