// The search dialog: Pagefind's index of this language, results as links, all by keyboard as well.
const site = new URL("..", import.meta.url);
const HAN = "\u3400-\u9fff\uf900-\ufaff";
const WIDE = `${HAN}\u3000-\u303f\uff00-\uffef\u2018-\u201d\u2026`;
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
  const chinese = document.documentElement.lang.startsWith("zh");
  await engine.options({ baseUrl: site.pathname, excerptLength: chinese ? 44 : 22 });
  await engine.init();
}

// Each Chinese character is a word of the index, so a Chinese part of a query asks for its characters in a row.
// Parts are looked up one by one; a page must hold every Chinese part.
async function find(query) {
  const han = new RegExp(`[${HAN}]`, "g");
  const parts = query.split(/\s+/);
  const chinese = parts.filter((part) => part.match(han)).map((part) => `"${part.replace(han, " $& ").trim()}"`);
  const other = parts.filter((part) => !part.match(han)).join(" ");
  const searches = await Promise.all([...chinese, ...(other ? [other] : [])].map((part) => engine.search(part)));
  const [first, ...rest] = searches.map((search) => search.results);
  const everywhere = first.filter((result) => rest.every((results) => results.some(({ id }) => id === result.id)));
  const pages = await Promise.all(everywhere.map(async (result) => ranked(await result.data(), result.score, query)));
  return pages.filter(({ page }) => heads(other).every((head) => `${page.meta.title} ${page.content}`.toLowerCase().includes(head)));
}

// Pagefind answers a word that stands nowhere with what begins like it; a page must hold the greater part of each word.
function heads(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return words.map((word) => (word.length > 4 ? word.slice(0, Math.ceil(word.length * 0.7)) : word));
}

// A page that names the query among its subjects comes first, then titles, headings, and how often it says it.
function ranked(page, score, query) {
  const wanted = together(query).toLowerCase();
  const holds = (text) => together(text).toLowerCase().includes(wanted);
  const subjects = (page.filters.subject || []).map((subject) => subject.toLowerCase());
  const headings = page.sub_results.filter((part) => holds(part.title)).length;
  const times = together(page.content).toLowerCase().split(wanted).length - 1;
  const weight = 100 * subjects.includes(wanted) + 40 * holds(page.meta.title) + 8 * Math.min(headings, 3) + Math.min(times, 12) + score;
  return { page, weight };
}

// Undo the spaces that set Chinese characters apart.
function together(text) {
  return text
    .replace(/\s+<\/mark>/g, "</mark> ")
    .replace(new RegExp(`([${WIDE}](?:</mark>)?)\\s+(?=(?:<mark>)?[${WIDE}])`, "g"), "$1")
    .replace(/<\/mark><mark>/g, "")
    .replace(/\s+/g, " ")
    .trim();
}

let turn = 0;
async function run(words) {
  const query = input.value.trim();
  const mine = ++turn;
  if (!query) {
    list.replaceChildren();
    status.textContent = words.search_hint;
    return;
  }
  await new Promise((resolve) => setTimeout(resolve, 120));
  if (mine !== turn) return; // a later keystroke has taken over
  let found;
  try {
    if (!engine) await load();
    found = await find(query);
  } catch {
    engine = undefined;
    status.textContent = words.search_failed;
    return;
  }
  if (mine !== turn) return;
  found.sort((one, other) => other.weight - one.weight);
  list.replaceChildren(...found.slice(0, 8).flatMap(({ page }) => entries(page, query)));
  const counted = found.length === 1 ? words.search_one : words.search_some;
  status.textContent = (found.length ? counted : words.search_none).replace("{count}", found.length).replace("{query}", query);
}

// A page, and below it the section that fits best.
function entries(page, query) {
  const title = together(page.meta.title);
  const wanted = query.toLowerCase();
  const parts = page.sub_results.filter((part) => part.anchor && together(part.title) !== title);
  const best = parts.find((part) => together(part.title).toLowerCase().includes(wanted)) || parts[0];
  const shown = [entry(title, page.excerpt, page.url)];
  if (best && best.excerpt !== page.excerpt) shown.push(entry(`${title} › ${together(best.title)}`, best.excerpt, best.url));
  return shown;
}

function entry(title, excerpt, url) {
  const item = document.createElement("li");
  item.innerHTML = `<a><strong></strong><span></span></a>`;
  item.firstChild.href = url;
  item.querySelector("strong").textContent = title;
  item.querySelector("span").innerHTML = together(excerpt); // Pagefind escapes the text and adds <mark>
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
