// The drawings of the round stepper. They are as wide as their place, in CSS pixels, so that type keeps its size.
import { svg, text } from "./dom.js";
import { words } from "./stepper-words.js";

export const CANDIDATES = { height: 218, top: 88, bars: 96 };
export const STATE = { height: 116 };

const COLOURS = { accepted: "var(--accept)", rejected: "var(--reject)", testing: "var(--accent)" };
const line = (x1, y1, x2, y2, attributes) => svg("line", { x1, y1, x2, y2, ...attributes });

export function status(place, state) {
  if (place >= state.tokens.length) return "beyond";
  if (place < state.accepted_tokens.length) return "accepted";
  if (state.rejected_at === null) return "waiting";
  return place === state.rejected_at ? "rejected" : "closed";
}

function box(x, width, y, token, colour, attributes = {}) {
  const faded = attributes["stroke-dasharray"];
  return [
    svg("rect", { x: x + 3, y, width: width - 6, height: 30, rx: 6, fill: colour, "fill-opacity": faded ? 0 : 0.14, stroke: colour, "stroke-width": 2, ...attributes }),
    text(x + width / 2, y + 21, token, { class: faded ? "muted" : "strong", "text-anchor": "middle", "text-decoration": faded ? "line-through" : null }),
  ];
}

// Boxes of the candidates, and below each the bars of q and p with the line that p has to reach.
export function candidates(width, state, round) {
  const column = width / round.tokens.length;
  const base = CANDIDATES.top + CANDIDATES.bars;
  const parts = [text(2, 14, words.candidates, { class: "muted" }), line(0, base, width, base, { class: "axis" })];
  round.labels.forEach((token, place) => {
    const what = status(place, state);
    const open = what === "accepted" || what === "rejected";
    const dash = what === "closed" || what === "beyond" ? "5 4" : null;
    const colour = COLOURS[what] ?? "var(--mtp-line)";
    const x = place * column;
    parts.push(...box(x, column, 22, token, colour, { "stroke-dasharray": dash, class: state.position === place ? "current" : null }));
    const short = column < 78 && /^[✓✗]/.test(words.status[what]) ? words.status[what][0] : words.status[what];
    parts.push(text(x + column / 2, 70, short, { class: open ? what : "muted", "text-anchor": "middle" }));
    parts.push(...bars(x, column, base, place, round, open ? colour : null));
  });
  return [...parts, ...legend(round.rule)];
}

function bars(x, column, base, place, round, colour) {
  const middle = x + column / 2;
  const size = Math.min(26, column / 2 - 6);
  const bar = (left, value, attributes) =>
    svg("rect", { x: left, y: base - value * CANDIDATES.bars, width: size, height: value * CANDIDATES.bars, rx: 2, ...attributes });
  const q = round.entries.q[place];
  const parts = [
    bar(middle - size - 2, q, { fill: "var(--mtp-line)", "fill-opacity": 0.85 }),
    bar(middle + 2, round.entries.p[place], { fill: colour ?? "var(--accent)", "fill-opacity": colour ? 0.9 : 0.45 }),
  ];
  const level = { threshold: round.ratio * q, sampling: round.tests[place] * q }[round.rule];
  if (level !== undefined && place < round.budget) {
    const y = base - level * CANDIDATES.bars;
    parts.push(line(middle - size - 6, y, middle + size + 6, y, { class: "level" }));
  }
  return parts;
}

function legend(rule) {
  const y = CANDIDATES.height - 12;
  const parts = [];
  let x = 2;
  for (const [key, fill, opacity] of [["q", "var(--mtp-line)", 0.85], ["p", "var(--accent)", 0.6]]) {
    parts.push(svg("rect", { x, y: y - 10, width: 11, height: 11, rx: 2, fill, "fill-opacity": opacity }));
    parts.push(text(x + 16, y, words.legend[key], { class: "muted" }));
    x += 84;
  }
  if (words.legend[rule]) {
    parts.push(line(x, y - 4, x + 20, y - 4, { class: "level" }), text(x + 26, y, words.legend[rule], { class: "muted" }));
  }
  return parts;
}

// What has become text in this round, and the KV cache with what was written and how much of it is valid.
export function outcome(width, state, round) {
  const column = Math.min(width / (round.tokens.length + 1), 96);
  const parts = [text(2, 14, words.emitted, { class: "muted" })];
  state.accepted_tokens.forEach((token, place) => parts.push(...box(place * column, column, 22, round.name(token), COLOURS.accepted)));
  if (state.next_token !== undefined) {
    parts.push(...box(state.accepted_tokens.length * column, column, 22, round.name(state.next_token), COLOURS.testing));
  }
  parts.push(text(2, 76, words.kv(state), { class: "muted" }));
  const cell = cellWidth(width, round);
  for (let place = 0; place < round.kv_length + round.tokens.length; place += 1) {
    const valid = place < state.kv_length;
    const written = place < state.kv_written;
    const fill = valid ? (place < round.kv_length ? "var(--accent)" : "var(--accept)") : written ? "none" : "var(--mtp-line)";
    const stale = written && !valid;
    const edge = stale ? { stroke: "var(--mtp-line)", "stroke-width": 1.5, "stroke-dasharray": "3 3" } : {};
    parts.push(svg("rect", { x: place * cell + 1.5, y: 88, width: cell - 3, height: 18, rx: 3, fill, "fill-opacity": valid ? 0.75 : 0.18, ...edge }));
  }
  return parts;
}

export const cellWidth = (width, round) => Math.min(34, (width - 4) / (round.kv_length + round.tokens.length));
