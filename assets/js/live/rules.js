// Rules that decide how much of a draft is kept, as in mtp/verification.py. Each is rule(candidates, q, p, chance), with q one row
// for each candidate and p one more, and answers with what was accepted, where it stopped, and the token that the target adds.

// Index of the largest entry, the lowest among equals.
export const argmax = (row) => row.reduce((best, value, token) => (value > row[best] ? token : best), 0);

// max(p - q, 0), or p where rounding alone rejected.
export function leftOver(q, p) {
  const rest = p.map((value, token) => Math.max(value - q[token], 0));
  return rest.some((value) => value > 0) ? rest : p;
}

export const normalised = (row) => {
  const sum = row.reduce((total, value) => total + value, 0);
  return row.map((value) => value / sum);
};

// The teaching rule: p >= r q; where q is 0, p > 0.
export const passes = (q, p, ratio) => (q <= 0 ? p > 0 : p >= q * ratio);

const ended = (candidates, place, token) =>
  place < candidates.length
    ? { accepted: candidates.slice(0, place), rejected_at: place, next_token: token, kind: "correction" }
    : { accepted: [...candidates], rejected_at: null, next_token: token, kind: "bonus" };

export function greedy(candidates, q, p) {
  const best = p.map(argmax);
  let place = 0;
  while (place < candidates.length && candidates[place] === best[place]) place += 1;
  return ended(candidates, place, best[place]);
}

export function sampling(candidates, q, p, chance) {
  const undrawable = candidates.findIndex((token, place) => !(q[place][token] > 0));
  if (undrawable >= 0) throw new RangeError(`candidate at position ${undrawable} cannot have been drawn: its q is 0`);
  for (const [place, token] of candidates.entries()) {
    if (chance.accept(p[place][token] / q[place][token])) continue;
    return ended(candidates, place, chance.draw(leftOver(q[place], p[place])));
  }
  return ended(candidates, candidates.length, chance.draw(p[candidates.length]));
}

// The target's own token is drawn at each position.
export function match(candidates, q, p, chance) {
  for (const [place, token] of candidates.entries()) {
    const drawn = chance.draw(p[place]);
    if (drawn !== token) return ended(candidates, place, drawn);
  }
  return ended(candidates, candidates.length, chance.draw(p[candidates.length]));
}

// Rules that decide without chance, and draw from p at the end.
const certain = (accepts) => (candidates, q, p, chance) => {
  let place = 0;
  while (place < candidates.length && accepts(q[place][candidates[place]], p[place][candidates[place]], p[place])) place += 1;
  return ended(candidates, place, chance.draw(p[place]));
};

export const threshold = (ratio) => certain((q, p) => passes(q, p, ratio));

export const typical = (epsilon, delta) =>
  certain((q, p, row) => {
    const entropy = row.reduce((sum, value) => (value > 0 ? sum - value * Math.log(value) : sum), 0);
    return p > Math.min(epsilon, delta * Math.exp(-entropy));
  });
