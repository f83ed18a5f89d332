"""Rules that decide how much of a draft is kept: one call, `rule.verify(candidates, q, p, generator)`, for all.

For every rule: `candidates` are k tokens; `q` (k, V) the distributions they were drawn from, or None for a deterministic draft
(one-hot); `p` (k+1, V) the target's distributions, row i for candidate i and the last row for the token after all of them;
`generator` a `torch.Generator`, or a `Chance` that decides in its place. `validate=False` leaves out the checks of the
probabilities (not those of shapes and tokens) for a loop that has made p and q itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from .chance import Chance, as_chance


@dataclass(frozen=True)
class RoundOutcome:
    """What a rule makes of a round.

    Attributes:
        accepted: the accepted prefix of the candidates.
        rejected_at: index of the first candidate that is not kept, or None.
        next_token: the token that the target adds.
        kind: `"correction"` after a rejection, `"bonus"` after full acceptance.
    """

    accepted: list[int]
    rejected_at: int | None
    next_token: int
    kind: str

    @property
    def tokens(self) -> list[int]:
        return [*self.accepted, self.next_token]


def _check_shapes(candidates: Sequence[int], q: Tensor | None, p: Tensor) -> None:
    if p.dim() != 2 or p.shape[0] != len(candidates) + 1:
        raise ValueError(f"p has shape {tuple(p.shape)}, not ({len(candidates) + 1}, V) for {len(candidates)} candidates")
    if q is not None and q.shape != (len(candidates), p.shape[1]):
        raise ValueError(f"q has shape {tuple(q.shape)}, not ({len(candidates)}, {p.shape[1]})")
    for token in candidates:
        if isinstance(token, bool) or not isinstance(token, int):
            raise ValueError(f"candidates hold {token!r}, not an int")
        if not 0 <= token < p.shape[1]:
            raise ValueError(f"candidates hold {token!r}, outside the vocabulary of {p.shape[1]}")


def _check_rows(name: str, rows: Tensor) -> None:
    """Rows must be distributions, to the rounding that their type allows over a large vocabulary."""
    bad = ~torch.isfinite(rows) | (rows < 0)
    if bad.any():
        row, token = bad.nonzero()[0].tolist()
        raise ValueError(f"{name}[{row}, {token}] must be a finite probability of at least 0, not {rows[row, token].item()!r}")
    tolerance = {torch.float64: 1e-9, torch.float32: 1e-4}.get(rows.dtype, 1e-2)
    for row, total in enumerate(rows.sum(-1).tolist()):
        if abs(total - 1) > tolerance:
            raise ValueError(f"{name}[{row}] sums to {total!r}, not 1")


def residual(q: Tensor, p: Tensor) -> Tensor:
    """Residual distribution (V,): normalised max(p - q, 0), what a rejected candidate is replaced from.

    Raises:
        ValueError: no mass is left (p = q): nothing could have been rejected.
    """
    rest = (p - q).clamp(min=0)
    mass = float(rest.sum())
    if not mass > 0:
        raise ValueError(f"residual max(p - q, 0) has mass {mass!r}: where p equals q no candidate is rejected")
    return rest / mass


def _left_over(weight: float, q: Tensor, p: Tensor) -> Tensor:
    """max(weight · p - q, 0). Rounding alone can reject where it has no mass; p itself is what is left then."""
    rest = torch.relu(p - q if weight == 1 else weight * p - q)
    return rest if bool(rest.any()) else p


def _one_hot(candidates: Sequence[int], like: Tensor) -> Tensor:
    rows = torch.zeros(len(candidates), like.shape[1], dtype=like.dtype)
    rows[range(len(candidates)), list(candidates)] = 1
    return rows


class Rule:
    """What all rules share. `lossless` says whether the emitted tokens follow the target's own distribution."""

    lossless: bool

    def __init__(self, validate: bool = True) -> None:
        self.validate = validate

    def verify(
        self, candidates: Sequence[int], q: Tensor | None, p: Tensor, generator: torch.Generator | Chance | None = None
    ) -> RoundOutcome:
        """Decide one round.

        Raises:
            ValueError: shapes that do not fit, a candidate that is no int or outside the vocabulary, rows that are no
                distributions; for rules that read q, a candidate with q = 0, which cannot have been drawn.
        """
        raise NotImplementedError

    def _check(self, candidates: Sequence[int], q: Tensor | None, p: Tensor) -> None:
        _check_shapes(candidates, q, p)
        if self.validate:
            _check_rows("p", p)
            if q is not None:
                _check_rows("q", q)


def _entries(candidates: Sequence[int], q: Tensor | None, p: Tensor) -> tuple[list[float], list[float]]:
    """q(x) and p(x) of every candidate, read in one go."""
    places = torch.tensor([row * p.shape[1] + token for row, token in enumerate(candidates)], dtype=torch.long)
    return [1.0] * len(candidates) if q is None else q.take(places).tolist(), p.take(places).tolist()


def _refuse_undrawable(candidates: Sequence[int], drafted: list[float]) -> None:
    for place, (token, mass) in enumerate(zip(candidates, drafted)):
        if not mass > 0:
            raise ValueError(f"candidate {token} at position {place} has q = {mass}: it cannot have been drawn from q")


class GreedyMatch(Rule):
    """Accept while the candidate is the target's likeliest token (lowest among equals).

    Lossless for greedy decoding, that is against p at temperature 0: it takes the argmax of any other p first. Needs no q.
    """

    lossless = True

    def verify(
        self, candidates: Sequence[int], q: Tensor | None, p: Tensor, generator: torch.Generator | Chance | None = None
    ) -> RoundOutcome:
        self._check(candidates, q, p)
        best = p.argmax(-1).tolist()
        for place, token in enumerate(candidates):
            if token != best[place]:
                return RoundOutcome(list(candidates[:place]), place, best[place], "correction")
        return RoundOutcome(list(candidates), None, best[-1], "bonus")


class SpeculativeSampling(Rule):
    """Accept x with min(1, p(x)/q(x)), else draw from the residual max(p - q, 0).

    Leviathan et al. 2023 (arXiv 2211.17192), Chen et al. 2023 (arXiv 2302.01318). Lossless. Needs the q that was drawn from.
    """

    lossless = True

    def verify(
        self, candidates: Sequence[int], q: Tensor | None, p: Tensor, generator: torch.Generator | Chance | None = None
    ) -> RoundOutcome:
        self._check(candidates, q, p)
        chance = as_chance(generator)
        drafted, wanted = _entries(candidates, q, p)
        _refuse_undrawable(candidates, drafted)
        for place, token in enumerate(candidates):
            if chance.accept(wanted[place] / drafted[place]):
                continue
            draft = _one_hot([token], p)[0] if q is None else q[place]
            return RoundOutcome(list(candidates[:place]), place, chance.draw(_left_over(1.0, draft, p[place])), "correction")
        return RoundOutcome(list(candidates), None, chance.draw(p[-1]), "bonus")


class TargetSampleMatch(Rule):
    """Draw the target's token at each position and accept the candidate that equals it; the drawn token corrects otherwise.

    What llama.cpp and others call exact match. Lossless at any temperature and for any draft, but accepts less than speculative
    sampling does: Σ p·q in place of Σ min(p, q). Needs no q.
    """

    lossless = True

    def verify(
        self, candidates: Sequence[int], q: Tensor | None, p: Tensor, generator: torch.Generator | Chance | None = None
    ) -> RoundOutcome:
        self._check(candidates, q, p)
        chance = as_chance(generator)
        for place, token in enumerate(candidates):
            drawn = chance.draw(p[place])
            if drawn != token:
                return RoundOutcome(list(candidates[:place]), place, drawn, "correction")
        return RoundOutcome(list(candidates), None, chance.draw(p[-1]), "bonus")


class _Certain(Rule):
    """Rules that decide without chance, and add a draw from p after a rejection as after full acceptance. Lossy."""

    lossless = False

    def _accepts(self, drafted: float, wanted: float, p: Tensor) -> bool:
        raise NotImplementedError

    def verify(
        self, candidates: Sequence[int], q: Tensor | None, p: Tensor, generator: torch.Generator | Chance | None = None
    ) -> RoundOutcome:
        self._check(candidates, q, p)
        chance = as_chance(generator)
        drafted, wanted = _entries(candidates, q, p)
        for place in range(len(candidates)):
            if not self._accepts(drafted[place], wanted[place], p[place]):
                return RoundOutcome(list(candidates[:place]), place, chance.draw(p[place]), "correction")
        return RoundOutcome(list(candidates), None, chance.draw(p[-1]), "bonus")


class ThresholdAcceptance(_Certain):
    """The teaching simulator's rule: accept x where p(x) >= q(x) · min_accept_ratio; where q(x) = 0, iff p(x) > 0. Lossy."""

    def __init__(self, min_accept_ratio: float = 0.5, validate: bool = True) -> None:
        super().__init__(validate)
        if isinstance(min_accept_ratio, bool) or not 0 < min_accept_ratio <= 1:
            raise ValueError(f"min_accept_ratio must be a number in (0, 1], not {min_accept_ratio!r}")
        self.min_accept_ratio = min_accept_ratio

    def _accepts(self, drafted: float, wanted: float, p: Tensor) -> bool:
        return wanted > 0 if drafted <= 0 else wanted >= drafted * self.min_accept_ratio


class TypicalAcceptance(_Certain):
    """Accept x where p(x) > min(epsilon, delta · exp(-H(p))), H the entropy in nats. Medusa (arXiv 2401.10774). Lossy.

    Medusa accepts the first token of a round unconditionally; that token is the target's own, which here is `next_token` of
    the round before, so every candidate is tested. Needs no q.
    """

    def __init__(self, epsilon: float = 0.09, delta: float = 0.3, validate: bool = True) -> None:
        super().__init__(validate)
        for name, value in (("epsilon", epsilon), ("delta", delta)):
            if isinstance(value, bool) or not 0 < value < math.inf:
                raise ValueError(f"{name} must be above 0 and finite, not {value!r}")
        self.epsilon, self.delta = epsilon, delta

    def _accepts(self, drafted: float, wanted: float, p: Tensor) -> bool:
        entropy = float(torch.special.entr(p).sum())
        return wanted > min(self.epsilon, self.delta * math.exp(-entropy))


class BlockVerification(Rule):
    """Verify the block as a whole (Sun et al., arXiv 2403.10444). Lossless; needs q.

    With w_0 = 1 and w_i = min(1, w_{i-1} · p(x_i)/q(x_i)), prefix i is kept with probability h_i: w_k for the whole block,
    S_i / (S_i + 1 - w_i) with S_i = Σ max(w_i p - q, 0) at position i + 1 for the others. The longest prefix kept counts,
    even where a shorter one is not; what follows it is drawn from max(w p - q, 0), or from p after the whole block.
    """

    lossless = True

    def verify(
        self, candidates: Sequence[int], q: Tensor | None, p: Tensor, generator: torch.Generator | Chance | None = None
    ) -> RoundOutcome:
        self._check(candidates, q, p)
        chance, k = as_chance(generator), len(candidates)
        drafted, wanted = _entries(candidates, q, p)
        _refuse_undrawable(candidates, drafted)
        draft = _one_hot(candidates, p) if q is None else q
        weights = [1.0]
        for place in range(k):
            weights.append(min(1.0, weights[-1] * wanted[place] / drafted[place]))
        # The tests are independent and only the last success counts, so they run from the longest prefix down.
        if chance.accept(weights[k]):
            return RoundOutcome(list(candidates), None, chance.draw(p[-1]), "bonus")
        kept = k - 1
        while kept > 0 and not chance.accept(self._keep(weights[kept], draft[kept], p[kept])):
            kept -= 1
        return RoundOutcome(
            list(candidates[:kept]), kept, chance.draw(_left_over(weights[kept], draft[kept], p[kept])), "correction"
        )

    @staticmethod
    def _keep(weight: float, q: Tensor, p: Tensor) -> float:
        rest = float((weight * p - q).clamp(min=0).sum())
        # 0/0 where the weight is 1 and p equals q: a longer prefix is certain to be kept then, so the value does not matter.
        return rest / (rest + 1 - weight) if rest > 0 else 0.0
