// What a reader set up, as a part of the page's address; the section's anchor stays where it is.
import { clamp } from "./dom.js";
import { RULES } from "./round-logic.js";

const KEYS = ["rule", "budget", "r", "p", "q", "u", "step"];
const list = (values) => values.map((value) => Number(value.toFixed(4))).join("_");

export function address(model, anchor) {
  const url = new URL(location.href);
  const { rule, budget, ratio, p, q, u, step } = model;
  const values = [rule, budget, list([ratio]), list(p), list(q), list(u), step];
  KEYS.forEach((key, place) => url.searchParams.set(key, values[place]));
  url.hash = anchor;
  return url;
}

// The model that the page's address describes, or null. Numbers are kept within what the controls allow.
export function fromAddress(count) {
  const [rule, budget, r, p, q, u, step] = KEYS.map((key) => new URLSearchParams(location.search).get(key));
  if (!RULES.includes(rule)) return null;
  const numbers = (text, most) => (text ?? "").split("_").map((part) => (part === "" ? NaN : clamp(Number(part), 0, most)));
  const model = {
    rule,
    budget: clamp(Math.round(Number(budget)), 1, count),
    ratio: clamp(Number(r), 0.01, 1),
    p: numbers(p, 1),
    q: numbers(q, 1),
    u: numbers(u, 0.9999),
    step: Math.max(Math.round(Number(step)), 0),
  };
  const lengths = [model.p.length === count, model.q.length === count, model.u.length === count + 1];
  const all = [model.budget, model.ratio, model.step, ...model.p, ...model.q, ...model.u];
  return lengths.every(Boolean) && all.every(Number.isFinite) ? model : null;
}
