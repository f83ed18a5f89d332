// One round as a list of states: those of mtp/trace.py for the threshold rule, those of mtp/trace_rules.py for the exact ones.
import { given } from "./chance.js";
import { argmax, greedy, leftOver, normalised, passes, sampling } from "./rules.js";

export const RULES = ["threshold", "greedy", "sampling"];

// Distributions of which only each candidate's own entry was said; the rest is spread over the other tokens (mtp/live.py).
export function fullRows(tokens, entries, vocabulary, falling) {
  const total = (vocabulary * (vocabulary - 1)) / 2;
  return tokens.map((token, place) => {
    let other = 0;
    return Array.from({ length: vocabulary }, (_, column) => {
      if (column === token) return entries[place];
      other += 1;
      return ((1 - entries[place]) * (falling ? vocabulary - other : other)) / total;
    });
  });
}

// The target's distribution behind the last candidate offered.
export function lastRow(vocabulary) {
  return normalised(Array.from({ length: vocabulary }, (_, column) => vocabulary - column));
}

// round: { rule, ratio, budget, tokens, q, p, tests, draw, kv_length }, with q and p as rows over the vocabulary.
export function trace(round) {
  const tokens = round.tokens.slice(0, round.budget);
  const shared = { tokens, accepted_tokens: [], rejected_at: null, closed_tokens: [], kv_length: round.kv_length };
  const proposal = { kind: "proposal", ...shared, kv_written: round.kv_length, offered_tokens: round.tokens, budget: round.budget };
  if (round.rule === "threshold") proposal.ratio = round.ratio;
  const states = [proposal];
  for (const decision of round.rule === "threshold" ? thresholdTests(round, tokens) : ruleTests(round, tokens)) {
    states.push({ kind: "test", ...shared, ...decision, ...consequence(round, tokens, decision) });
  }
  const last = states[states.length - 1];
  const at = last.rejected_at;
  const accepted = at === null ? tokens : tokens.slice(0, at);
  const closed = at === null ? [] : tokens.slice(at);
  const end = { ...shared, accepted_tokens: accepted, rejected_at: at, closed_tokens: closed };
  end.kv_length = round.kv_length + accepted.length;
  end.kv_written = round.kv_length + tokens.length;
  if (round.rule !== "threshold") {
    const outcome = decide(round, tokens);
    Object.assign(end, { next_token: outcome.next_token, next_kind: outcome.kind });
    states.push({ kind: "next", ...end, ...drawn(round, tokens, at) });
  }
  const progress = tokens.length ? accepted.length / tokens.length : 0;
  states.push({ kind: "summary", ...end, accepted_len: accepted.length, progress_per_round: progress, rejected_suffix: closed });
  return states.map((state, step) => ({ step, ...state }));
}

function decide(round, tokens) {
  const rule = round.rule === "greedy" ? greedy : sampling;
  return rule(tokens, round.q, round.p.slice(0, tokens.length + 1), given(round.tests, [round.draw]));
}

function thresholdTests(round, tokens) {
  const tests = [];
  for (const [position, token] of tokens.entries()) {
    const q = round.q[position][token];
    const p = round.p[position][token];
    const accepted = passes(q, p, round.ratio);
    const zero = accepted ? "zero_draft_positive_target" : "zero_draft_zero_target";
    const reason = q <= 0 ? zero : accepted ? "at_least_threshold" : "below_threshold";
    tests.push({ position, token, q, p, threshold: q * round.ratio, accepted, reason });
    if (!accepted) break;
  }
  return tests;
}

// What the exact rules tested, told from what they decided.
function ruleTests(round, tokens) {
  const kept = decide(round, tokens).accepted.length;
  return tokens.slice(0, kept + 1).map((token, position) => {
    const q = round.q[position][token];
    const p = round.p[position][token];
    const accepted = position < kept;
    const test = { position, token, q, p, accepted };
    if (round.rule === "greedy") return { ...test, best: argmax(round.p[position]), reason: accepted ? "is_argmax" : "not_argmax" };
    const probability = Math.min(1, p / q);
    const chance = accepted ? "below_probability" : "not_below_probability";
    return { ...test, probability, u: round.tests[position], reason: probability >= 1 ? "target_likes_it_as_much" : chance };
  });
}

function consequence(round, tokens, { position, accepted }) {
  const state = {
    next: !accepted ? "stop" : position === tokens.length - 1 ? "complete" : "go_on",
    accepted_tokens: tokens.slice(0, position + accepted),
    // The target's one pass has written every candidate's keys and values before the first test.
    kv_written: round.kv_length + tokens.length,
    kv_length: round.kv_length + position + accepted,
  };
  return accepted ? state : { ...state, rejected_at: position, closed_tokens: tokens.slice(position) };
}

// What speculative sampling drew its last token from.
function drawn(round, tokens, at) {
  if (round.rule === "greedy") return {};
  const row = at === null ? round.p[tokens.length] : leftOver(round.q[at], round.p[at]);
  return { distribution: normalised(row), u: round.draw };
}

export const SCENARIOS = ["all", "first", "late", "zero"];

// Entries of a scenario for three candidates or more: all accepted, the first rejected, likely candidates behind a rejection, and
// candidates that the draft gave no probability at all.
export function scenario(name, count) {
  const p = Array(count).fill(0.8);
  const q = Array(count).fill(0.5);
  const middle = Math.floor(count / 2);
  if (name === "first") p[0] = 0.2;
  if (name === "late") p.fill(0.2, middle, middle + 1).fill(0.9, middle + 1);
  if (name === "zero") {
    q.fill(0, 1, 3);
    p.splice(1, 2, 0.3, 0);
  }
  return { p, q };
}
