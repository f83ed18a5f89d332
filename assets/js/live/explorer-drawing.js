// The drawings of the explorer, as wide as their place.
import { number, svg, text } from "./dom.js";
import { words } from "./explorer-words.js";

export const BARS = { height: 140, top: 22, bars: 96 };
export const PLOT = { height: 216, top: 10, plot: 140, left: 34 };

const line = (x1, y1, x2, y2, attributes) => svg("line", { x1, y1, x2, y2, ...attributes });

export function survivalBars(width, survival) {
  const column = width / survival.length;
  const base = BARS.top + BARS.bars;
  const size = { width: column - 6, rx: 2, fill: "var(--accent)", "fill-opacity": 0.6 };
  const bars = survival.flatMap((value, place) => [
    svg("rect", { x: place * column + 3, y: base - value * BARS.bars, height: value * BARS.bars, ...size }),
    text((place + 0.5) * column, base + 16, place, { class: "muted small", "text-anchor": "middle" }),
  ]);
  return [text(0, 13, words.title, { class: "muted small" }), line(0, base, width, base, { class: "axis" }), ...bars];
}

// The next of a few steps times a power of ten, so that half of an axis is a readable number.
function rounded(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((step) => step * power).find((step) => step >= value * (1 - 1e-9));
}

class Plot {
  constructor(width, ks, highest) {
    Object.assign(this, { width, ks, highest, right: width - 10, base: PLOT.top + PLOT.plot });
  }

  x(k) {
    return PLOT.left + ((this.right - PLOT.left) * k) / Math.max(this.ks, 1);
  }

  y(value) {
    return this.base - (value / this.highest) * PLOT.plot;
  }

  axes() {
    const parts = [text(this.right, this.base + 32, words.axis, { class: "muted small", "text-anchor": "end" })];
    for (const value of [0, this.highest / 2, this.highest]) {
      parts.push(line(PLOT.left, this.y(value), this.right, this.y(value), { class: "grid" }));
      parts.push(text(PLOT.left - 5, this.y(value) + 4, number(value), { class: "muted small", "text-anchor": "end" }));
    }
    for (let k = 0; k <= this.ks; k += 1) parts.push(text(this.x(k), this.base + 16, k, { class: "muted small", "text-anchor": "middle" }));
    return parts;
  }

  // The k that the reader chose.
  guide(k) {
    return line(this.x(k), PLOT.top, this.x(k), this.base, { class: "guide" });
  }

  curve(points, key, kind) {
    const at = points.map((point) => [this.x(point.k).toFixed(1), this.y(point[key]).toFixed(1)]);
    const dots = at.map(([cx, cy]) => svg("circle", { cx, cy, r: 3, class: `dot ${kind}` }));
    return [svg("polyline", { class: `curve ${kind}`, points: at.join(" ") }), ...dots];
  }
}

// A key below a plot: pairs of kind and label.
function key(entries, step) {
  return entries.flatMap(([kind, label], place) => {
    const x = place * step;
    const y = PLOT.height - 10;
    const mark = kind === "measured" ? diamond(x + 9, y - 4) : line(x, y - 4, x + 18, y - 4, { class: `curve ${kind}` });
    return [mark, text(x + 23, y, label, { class: "muted small" })];
  });
}

const diamond = (x, y) => svg("path", { d: `M${x} ${y - 6}l6 6-6 6-6-6z`, class: "measured" });

// What a round gives and what it takes: where the second curve lies above the first, candidates do not pay.
export function amounts(width, points, k) {
  const highest = rounded(Math.max(...points.flatMap(({ tokens, time }) => [tokens, time])));
  const plot = new Plot(width, points.length - 1, highest);
  const entries = Object.entries(words.amounts);
  return [...plot.axes(), plot.guide(k), ...plot.curve(points, "tokens", "tokens"), ...plot.curve(points, "time", "time"), ...key(entries, width / 2)];
}

export function gains(width, points, k, best, measured) {
  const ks = Math.max(points.length - 1, ...measured.map(({ k }) => k));
  const plot = new Plot(width, ks, rounded(Math.max(1.2, ...points.map(({ speedup }) => speedup), ...measured.map(({ speedup }) => speedup))));
  const band = svg("rect", { x: PLOT.left, y: plot.y(1), width: plot.right - PLOT.left, height: plot.base - plot.y(1), class: "slower" });
  const one = line(PLOT.left, plot.y(1), plot.right, plot.y(1), { class: "level" });
  const warning = text(plot.right - 4, plot.base - 6, words.slower, { class: "muted small", "text-anchor": "end" });
  const mark = svg("circle", { cx: plot.x(best), cy: plot.y(points[best].speedup), r: 8, class: "best" });
  const laid = measured.map(({ k, speedup }) => diamond(plot.x(k), plot.y(speedup)));
  const entries = [["speedup", words.speedup], ...(measured.length ? [["measured", words.measured]] : [])];
  return [band, ...plot.axes(), one, warning, plot.guide(k), ...plot.curve(points, "speedup", "speedup"), mark, ...laid, ...key(entries, width / 2)];
}
