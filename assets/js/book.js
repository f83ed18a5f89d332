// What a page does beyond being read: theme, menus, copy buttons, the place in the page, printing, and opening the search.
const root = document.documentElement;
const words = JSON.parse(document.getElementById("words").textContent);

function stored(key, value) {
  try {
    if (value === undefined) return localStorage.getItem(key);
    localStorage.setItem(key, value);
  } catch {
    // Storage may be switched off; the choice then holds for this page only.
  }
  return null;
}

// Theme: as the system, light, dark.
const dark = matchMedia("(prefers-color-scheme: dark)");
const themeSwitch = document.querySelector("[data-theme-switch]");
function applyTheme(choice) {
  root.dataset.choice = choice;
  root.dataset.theme = choice === "auto" ? (dark.matches ? "dark" : "light") : choice;
  themeSwitch.setAttribute("aria-label", words[`theme_${choice}`]);
  themeSwitch.title = words[`theme_${choice}`];
}
applyTheme(root.dataset.choice || "auto");
themeSwitch.hidden = false;
themeSwitch.addEventListener("click", () => {
  const order = ["auto", "light", "dark"];
  const next = order[(order.indexOf(root.dataset.choice) + 1) % order.length];
  stored("mtp-theme", next);
  applyTheme(next);
});
dark.addEventListener("change", () => applyTheme(root.dataset.choice));

// Menus close when the reader goes elsewhere.
const menus = document.querySelectorAll("details.menu");
addEventListener("click", (event) => {
  for (const menu of menus) if (!menu.contains(event.target)) menu.open = false;
});
addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of menus) {
    if (menu.open) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  }
});

// Copy buttons on what can be run.
for (const block of document.querySelectorAll("article .highlight")) {
  if (block.closest(".cell_output")) continue;
  const button = Object.assign(document.createElement("button"), { type: "button", className: "copy", textContent: words.copy });
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(block.querySelector("pre").textContent);
    button.textContent = words.copied;
    setTimeout(() => (button.textContent = words.copy), 1500);
  });
  block.append(button);
}

// A scrolling box needs the keyboard only where it really scrolls: that changes with the window, and when it is unfolded.
const boxes = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth + 1) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }
});
for (const box of document.querySelectorAll(".scroll, div.math, .highlight pre")) boxes.observe(box);

// The section being read is marked in the page's contents.
const links = new Map([...document.querySelectorAll(".aside .page-toc a")].map((link) => [decodeURIComponent(link.hash.slice(1)), link]));
let section = "";
const headings = [...document.querySelectorAll("article section[id]")].filter((element) => links.has(element.id));
if (headings.length) {
  const seen = new Set();
  const observer = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) entry.isIntersecting ? seen.add(entry.target) : seen.delete(entry.target);
      const current = headings.filter((element) => seen.has(element)).pop();
      if (!current) return;
      section = current.id;
      for (const link of links.values()) link.removeAttribute("aria-current");
      links.get(section).setAttribute("aria-current", "true");
    },
    { rootMargin: "-80px 0px -60% 0px" },
  );
  headings.forEach((element) => observer.observe(element));
}

// The other language opens at the same section, and is remembered.
for (const link of document.querySelectorAll("[data-language-link]")) {
  link.addEventListener("click", () => {
    stored("mtp-language", root.dataset.language === "zh" ? "en" : "zh");
    link.hash = location.hash || section;
    // What a live figure was set to comes along.
    link.search = location.search;
  });
}

// Folded text is printed open.
let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("article details:not([open])")];
  for (const element of folded) element.open = true;
});
addEventListener("afterprint", () => {
  for (const element of folded) element.open = false;
});

// Search is loaded when it is asked for.
const finder = document.querySelector("[data-search]");
finder.hidden = false;
const search = async () => (await import("./search.js")).open(words, finder);
finder.addEventListener("click", search);
addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
  if (((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") || (event.key === "/" && !typing)) {
    event.preventDefault();
    search();
  }
});

// A live figure brings its module; pages without one load nothing.
for (const name of new Set([...document.querySelectorAll("[data-live]")].map((element) => element.dataset.live))) import(`./live/${name}.js`);
