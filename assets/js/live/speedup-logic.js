// The cost model of mtp/cost_model.py, in units of one plain decoding step.
export const expectedTokens = (survival) => survival.reduce((sum, value) => sum + value, 1);

export const roundTime = (k, draft, verify) => 1 + k * (draft + verify);

export const speedup = (survival, draft, verify) => expectedTokens(survival) / roundTime(survival.length, draft, verify);

// For k = 0 … all positions: what a round gives, takes, and gains.
export function curves(survival, draft, verify) {
  return Array.from({ length: survival.length + 1 }, (_, k) => {
    const first = survival.slice(0, k);
    return { k, tokens: expectedTokens(first), time: roundTime(k, draft, verify), speedup: speedup(first, draft, verify) };
  });
}

// The fastest k, the smaller of equals; 0 is plain decoding.
export function bestK(survival, draft, verify) {
  return curves(survival, draft, verify).reduce((best, point) => (point.speedup > best.speedup ? point : best)).k;
}

export const iidSurvival = (rate, k) => Array.from({ length: k }, (_, place) => rate ** (place + 1));

// Survival with one value changed and kept from rising: those before are lifted to it, those behind lowered.
export function withValue(survival, place, value) {
  return survival.map((old, other) => (other < place ? Math.max(old, value) : other > place ? Math.min(old, value) : value));
}
