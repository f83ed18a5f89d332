// Rounds of one candidate each, and the exact distribution of the first token that they emit.
import { random } from "./chance.js";
import { leftOver, match, sampling, threshold, typical } from "./rules.js";

export const RULES = ["sampling", "match", "threshold", "typical"];
// Medusa's settings, the defaults of mtp.TypicalAcceptance.
const TYPICAL = [0.09, 0.3];

export const ruleOf = (name, ratio) => ({ sampling, match, threshold: threshold(ratio), typical: typical(...TYPICAL) })[name];

// The first token that a round emits: a candidate is drawn from q, judged, and replaced where it is rejected.
export function firstToken(rule, q, p, chance) {
  const candidate = chance.draw(q);
  const outcome = rule([candidate], [q], [p, p], chance);
  return outcome.accepted.length ? candidate : outcome.next_token;
}

export function drawTokens(rule, q, p, rounds, chance = random) {
  const counts = p.map(() => 0);
  for (let round = 0; round < rounds; round += 1) counts[firstToken(rule, q, p, chance)] += 1;
  return counts;
}

// Exact distribution of that token: what every candidate leads to, weighted by how often it is drawn.
export function exactFirstToken(name, ratio, q, p) {
  // Draws the target's token whatever the candidate: what is emitted is that token.
  if (name === "match") return [...p];
  const rule = ruleOf(name, ratio);
  const emitted = p.map(() => 0);
  for (const [candidate, mass] of q.entries()) {
    if (mass === 0) continue;
    const kept = name === "sampling" ? Math.min(1, p[candidate] / mass) : acceptsFor(rule, candidate, q, p);
    emitted[candidate] += mass * kept;
    if (kept === 1) continue;
    const after = name === "sampling" ? leftOver(q, p) : p;
    const total = after.reduce((sum, value) => sum + value, 0);
    for (const [token, value] of after.entries()) emitted[token] += (mass * (1 - kept) * value) / total;
  }
  return emitted;
}

// Rules without chance are asked once.
function acceptsFor(rule, candidate, q, p) {
  return rule([candidate], [q], [p, p], { draw: () => 0 }).accepted.length;
}

// Total variation distance.
export const distance = (one, other) => one.reduce((sum, value, token) => sum + Math.abs(value - other[token]), 0) / 2;

// A distribution with one entry changed; the others keep their shares of the rest, or share it equally where they had nothing.
export function withEntry(row, place, value) {
  const rest = row.reduce((sum, old, token) => (token === place ? sum : sum + old), 0);
  return row.map((old, token) => {
    if (token === place) return value;
    return rest > 0 ? (old / rest) * (1 - value) : (1 - value) / (row.length - 1);
  });
}
