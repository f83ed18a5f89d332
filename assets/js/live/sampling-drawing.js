// The drawings of the sampling demonstration, as wide as their place.
import { clamp, number, svg, text } from "./dom.js";
import { words } from "./sampling-words.js";

export const BARS = { height: 186, top: 8, bars: 120 };
export const CURVE = { height: 170, top: 24, plot: 112, left: 34 };
// Of a token's group: where the zones of q, of p, and of what was emitted begin, and how wide they are.
const ZONES = { q: [0.02, 0.36], p: [0.38, 0.36], emitted: [0.74, 0.24] };
const WIDEST = 110;
// Rounds after which a run stops.
export const MOST = 200000;
const HIGHEST = 0.5;

const label = (x, y, content, anchor) => text(x, y, content, { class: "muted small", "text-anchor": anchor });
const line = (x1, y1, x2, y2, attributes) => svg("line", { x1, y1, x2, y2, ...attributes });

// Left edge and width of one of a token's zones.
export function zone(key, token, tokens, width) {
  const column = width / tokens;
  const group = Math.min(column, WIDEST);
  return [token * column + (column - group) / 2 + ZONES[key][0] * group, ZONES[key][1] * group];
}

export function bars(width, { q, p, shares, limit }) {
  const column = width / p.length;
  const base = BARS.top + BARS.bars;
  const parts = [line(0, base, width, base, { class: "axis" })];
  const bar = (key, value, token, attributes) => {
    const [from, wide] = zone(key, token, p.length, width);
    const size = wide - 4;
    const x = from + 2;
    parts.push(svg("rect", { x, y: base - value * BARS.bars, width: size, height: value * BARS.bars, rx: 2, ...attributes }));
    return [x, size];
  };
  p.forEach((value, token) => {
    bar("q", q[token], token, { fill: "var(--mtp-line)", "fill-opacity": 0.85 });
    bar("p", value, token, { fill: "var(--accent)", "fill-opacity": 0.6 });
    const [x, size] = bar("emitted", shares ? shares[token] : 0, token, { fill: "var(--accept)" });
    const y = base - limit[token] * BARS.bars;
    parts.push(line(x - 4, y, x + size + 4, y, { class: "level" }));
    parts.push(text((token + 0.5) * column, base + 17, `${words.token} ${token}`, { class: "muted", "text-anchor": "middle" }));
  });
  return [...parts, ...legend(width)];
}

function legend(width) {
  const y = BARS.height - 12;
  const step = Math.min(width / 4, 92);
  const colours = { q: ["var(--mtp-line)", 0.85], p: ["var(--accent)", 0.6], emitted: ["var(--accept)", 1] };
  const parts = [];
  Object.entries(words.legend).forEach(([key, label], place) => {
    const x = place * step;
    const [fill, opacity] = colours[key] ?? [];
    if (fill) parts.push(svg("rect", { x, y: y - 9, width: 10, height: 10, rx: 2, fill, "fill-opacity": opacity }));
    else parts.push(line(x, y - 4, x + 12, y - 4, { class: "level" }));
    parts.push(text(x + 15, y, label, { class: "muted small" }));
  });
  return parts;
}

// Distance against rounds, on a logarithmic axis, and the distance of the exact limit as a line.
export function curve(width, points, limit) {
  const [left, right] = [CURVE.left, width - 8];
  const base = CURVE.top + CURVE.plot;
  const x = (rounds) => left + ((right - left) * Math.log10(Math.max(rounds, 1))) / Math.log10(MOST);
  const y = (value) => base - (clamp(value, 0, HIGHEST) / HIGHEST) * CURVE.plot;
  const parts = [label(0, 13, words.axis, "start"), label(right, base + 33, words.rounds, "end")];
  for (const value of [0, 0.25, HIGHEST]) {
    parts.push(line(left, y(value), right, y(value), { class: "grid" }), label(left - 5, y(value) + 4, number(value), "end"));
  }
  for (const rounds of [1, 10, 100, 1000, 10000, 100000]) {
    parts.push(label(x(rounds), base + 16, rounds < 1000 ? rounds : `${rounds / 1000}k`, "middle"));
  }
  parts.push(line(left, y(limit), right, y(limit), { class: "level" }));
  const places = points.map(([rounds, value]) => `${x(rounds).toFixed(1)},${y(value).toFixed(1)}`);
  if (places.length) parts.push(svg("polyline", { class: "curve", points: places.join(" ") }));
  return parts;
}
