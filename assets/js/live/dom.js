// What the live figures share: elements, numbers, controls, and handles that are dragged.
export const language = document.documentElement.dataset.language === "zh" ? "zh" : "en";

const SVG = "http://www.w3.org/2000/svg";

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

export const html = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);
export const svg = (tag, attributes = {}, ...children) => filled(document.createElementNS(SVG, tag), attributes, children);

// A probability or a time: at most three decimals, no trailing zeros.
export const number = (value) => String(Number(value.toFixed(3)));

export const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

export const text = (x, y, content, attributes = {}) => svg("text", { x, y, ...attributes }, content);

export const button = (label, onclick, attributes = {}) => html("button", { type: "button", onclick, ...attributes }, label);

// A list to choose from: pairs of value and label.
export function choice(label, options, onchange) {
  const select = html("select", { onchange: () => onchange(select.value) });
  select.append(...options.map(([value, words]) => html("option", { value }, words)));
  return { element: html("label", { class: "live-field" }, html("span", {}, label), select), select };
}

// A range with its value in words beside it.
export function range(label, { min, max, step }, oninput, format = number) {
  // No <output>: that is a live region, and the range says its value itself.
  const output = html("span", { class: "live-value", "aria-hidden": "true" });
  const input = html("input", { type: "range", min, max, step, oninput: () => oninput(input.valueAsNumber) });
  const element = html("label", { class: "live-field" }, html("span", {}, label), input, output);
  const show = (value) => {
    // Not while it is dragged: what was set may be a hair off what the hand says.
    if (Math.abs(input.valueAsNumber - value) > step / 2) input.value = value;
    output.textContent = format(value);
    input.setAttribute("aria-valuetext", output.textContent);
  };
  return { element, input, show };
}

// A number that is typed. What is no number, or outside its limits, is put right when the field is left.
export function field(label, { min, max, step }, onvalue, visible = label) {
  const input = html("input", { type: "number", min, max, step, inputmode: "decimal", "aria-label": label });
  let value = min;
  input.addEventListener("input", () => {
    const typed = input.valueAsNumber;
    if (typed >= min && typed <= max) onvalue(typed);
  });
  const show = (next) => {
    value = next;
    if (document.activeElement !== input || Math.abs(input.valueAsNumber - next) > 5e-4) input.value = number(next);
  };
  input.addEventListener("blur", () => (input.value = number(value)));
  return { element: html("label", { class: "live-number" }, html("span", { "aria-hidden": "true" }, visible), input), input, show };
}

// A place in a drawing whose height is a number between 0 and 1: dragged by mouse or finger, moved by keys.
export function handle(label, onvalue) {
  let value = 0;
  const set = (next) => onvalue(clamp(Math.round(next * 100) / 100, 0, 1));
  const at = (event) => {
    const box = rect.getBoundingClientRect();
    set(1 - (event.clientY - box.top) / box.height);
  };
  const steps = { ArrowUp: 0.01, ArrowRight: 0.01, ArrowDown: -0.01, ArrowLeft: -0.01, PageUp: 0.1, PageDown: -0.1, Home: -1, End: 1 };
  const rect = svg("rect", {
    class: "live-handle",
    role: "slider",
    tabindex: 0,
    "aria-label": label,
    "aria-orientation": "vertical",
    "aria-valuemin": 0,
    "aria-valuemax": 1,
    // The page would scroll under the finger: touch-action is not heeded everywhere for what paints nothing.
    ontouchstart: (event) => event.preventDefault(),
    onpointerdown: (event) => {
      if (event.button) return;
      rect.setPointerCapture(event.pointerId);
      at(event);
    },
    onpointermove: (event) => rect.hasPointerCapture(event.pointerId) && at(event),
    onkeydown: (event) => {
      if (!(event.key in steps) || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      set(value + steps[event.key]);
    },
  });
  const show = (next, x, y, width, height) => {
    value = next;
    for (const [name, size] of Object.entries({ x, y, width, height, "aria-valuenow": next })) rect.setAttribute(name, size);
    rect.setAttribute("aria-valuetext", number(next));
  };
  return { element: rect, show };
}

// Pixels that a drawing has inside its box.
export const innerWidth = (box) => Math.max(box.clientWidth - 2 * parseFloat(getComputedStyle(box).paddingLeft), 100);

// Draws now and whenever the width changes.
export function onWidth(element, drawing) {
  let last = 0;
  new ResizeObserver(() => {
    const width = Math.round(element.clientWidth);
    if (width && width !== last) drawing((last = width));
  }).observe(element);
}

// Takes the place of the drawing that stands in the page.
export function enliven(host, ...children) {
  const box = html("div", { class: "live", "data-pagefind-ignore": true }, children);
  host.prepend(box);
  host.dataset.ready = "";
  return box;
}
