// Where random decisions come from, as in mtp/chance.py: rules ask for a yes or no, or for a token.

// The token at the share u of a distribution's mass; never one of mass 0.
export function pick(u, distribution) {
  let sum = 0;
  const edges = distribution.map((mass) => (sum += mass));
  const token = edges.findIndex((edge) => edge > sum * u);
  // Rounding up may point beyond the end.
  return token < 0 ? distribution.reduce((last, mass, other) => (mass > 0 ? other : last), 0) : token;
}

// The i-th test is answered from tests[i], the i-th draw from draws[i]; a test that is certain uses up its number all the same.
export function given(tests, draws) {
  let tested = 0;
  let drawn = 0;
  return {
    accept(probability) {
      const u = tests[tested++];
      return probability >= 1 || u < probability;
    },
    draw: (distribution) => pick(draws[drawn++], distribution),
  };
}

export const random = {
  accept: (probability) => Math.random() < probability,
  draw: (distribution) => pick(Math.random(), distribution),
};
