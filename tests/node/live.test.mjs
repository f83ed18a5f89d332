// Replays what mtp computed (tests/live_vectors.py) through the modules of the live figures.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { given } from "../../assets/js/live/chance.js";
import * as round from "../../assets/js/live/round-logic.js";
import * as rules from "../../assets/js/live/rules.js";
import * as sampling from "../../assets/js/live/sampling-logic.js";
import * as speedup from "../../assets/js/live/speedup-logic.js";

const vectors = JSON.parse(readFileSync(process.env.LIVE_VECTORS, "utf8"));
const close = (one, other) => Math.abs(one - other) <= 1e-9;

// Equal in structure, with the same keys, and in every number to 1e-9.
function same(found, wanted, where) {
  if (typeof wanted === "number") return assert.ok(typeof found === "number" && close(found, wanted), `${where}: ${found}, not ${wanted}`);
  if (wanted === null || typeof wanted !== "object") return assert.equal(found, wanted, where);
  assert.equal(Array.isArray(found), Array.isArray(wanted), where);
  assert.deepEqual(Object.keys(found).sort(), Object.keys(wanted).sort(), where);
  for (const key of Object.keys(wanted)) same(found[key], wanted[key], `${where}.${key}`);
}

test("every state of every round", () => {
  assert.ok(vectors.rounds.length >= 500);
  for (const [number, { given: each, states }] of vectors.rounds.entries()) {
    if (states) same(round.trace(each), states, `rounds[${number}]`);
    else assert.throws(() => round.trace(each), RangeError, `rounds[${number}]`);
  }
});

test("rows made from the entries of candidates", () => {
  const made = vectors.rounds.filter(({ entries }) => entries);
  assert.ok(made.length >= 500);
  for (const { given: each, entries, vocabulary } of made) {
    same(round.fullRows(each.tokens, entries.q, vocabulary, false), each.q, "q");
    same([...round.fullRows(each.tokens, entries.p, vocabulary, true), round.lastRow(vocabulary)], each.p, "p");
  }
});

test("every rule alone", () => {
  for (const { given: each, outcome } of vectors.verifications) {
    const made = { ...rules, threshold: rules.threshold(each.ratio), typical: rules.typical(0.09, 0.3) }[each.rule];
    same(made(each.candidates, each.q, each.p, given(each.tests, each.draws)), outcome, each.rule);
  }
});

test("the first token: exact distribution, and round by round", () => {
  for (const { given: each, exact, rounds } of vectors.first) {
    same(sampling.exactFirstToken(each.rule, each.ratio, each.q, each.p), exact, each.rule);
    const rule = sampling.ruleOf(each.rule, each.ratio);
    for (const { tests, draws, token } of rounds) assert.equal(sampling.firstToken(rule, each.q, each.p, given(tests, draws)), token, each.rule);
  }
});

test("curves and the best k", () => {
  for (const { survival, draft, verify, points, best } of vectors.curves) {
    same(speedup.curves(survival, draft, verify), points, "curves");
    assert.equal(speedup.bestK(survival, draft, verify), best);
  }
});

test("counts of many rounds come to the exact distribution", () => {
  const [p, q] = [[0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1]];
  for (const name of sampling.RULES) {
    const counts = sampling.drawTokens(sampling.ruleOf(name, 0.5), q, p, 40000);
    assert.equal(counts.reduce((sum, count) => sum + count), 40000);
    const shares = counts.map((count) => count / 40000);
    assert.ok(sampling.distance(shares, sampling.exactFirstToken(name, 0.5, q, p)) < 0.02, name);
  }
});

test("what controls do to numbers", () => {
  same(speedup.withValue([0.9, 0.8, 0.7], 1, 0.5), [0.9, 0.5, 0.5], "lowered");
  same(speedup.withValue([0.9, 0.8, 0.7], 1, 0.95), [0.95, 0.95, 0.7], "lifted");
  same(speedup.iidSurvival(0.5, 3), [0.5, 0.25, 0.125], "i.i.d.");
  same(sampling.withEntry([0.1, 0.2, 0.3, 0.4], 3, 0.7), [0.05, 0.1, 0.15, 0.7], "shares kept");
  same(sampling.withEntry([0, 0, 1], 2, 0.5), [0.25, 0.25, 0.5], "nothing to share out");
});
