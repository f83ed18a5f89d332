"""What `mtp` computes for the live figures, as one JSON file that Node replays through their modules."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import torch
from mtp.chance import GivenChance
from mtp.cost_model import best_k, expected_tokens, round_time, speedup
from mtp.exact import emitted_distribution
from mtp.live import full_rows, last_row
from mtp.simulator import MultiTokenDecoderSim
from mtp.trace import trace_round
from mtp.trace_rules import trace_rule
from mtp.verification import GreedyMatch, SpeculativeSampling, TargetSampleMatch, ThresholdAcceptance, TypicalAcceptance
from torch import Tensor

EDGES = (0.0, 1.0, 0.5, 0.25)
ALMOST_ONE = 1 - 2**-53
RULES = {
    "greedy": lambda ratio: GreedyMatch(),
    "sampling": lambda ratio: SpeculativeSampling(),
    "match": lambda ratio: TargetSampleMatch(),
    "threshold": ThresholdAcceptance,
    "typical": lambda ratio: TypicalAcceptance(),
}


def entry(rng: random.Random) -> float:
    return rng.choice(EDGES) if rng.random() < 0.3 else rng.random()


def uniform(rng: random.Random) -> float:
    return rng.choice((0.0, 0.5, ALMOST_ONE)) if rng.random() < 0.2 else rng.random()


def distributions(rng: random.Random, count: int, vocabulary: int) -> Tensor:
    """Rows with zeros, ties and one-hot ones among them."""
    rows = torch.tensor([[rng.choice((0, 0, 1, 1, 2, rng.random())) for _ in range(vocabulary)] for _ in range(count)], dtype=torch.float64)
    rows = rows.reshape(count, vocabulary)
    for row in rows:
        if row.sum() == 0:
            row[rng.randrange(vocabulary)] = 1
    return rows / rows.sum(-1, keepdim=True)


def rows_of(rng: random.Random, tokens: list[int], vocabulary: int, ratio: float) -> tuple[Tensor, Tensor, dict[str, Any] | None]:
    """p and q of a round: made from candidates' entries as the stepper makes them, or any distributions at all."""
    if rng.random() < 0.4:
        return distributions(rng, len(tokens) + 1, vocabulary), distributions(rng, len(tokens), vocabulary), None
    q_entries = [entry(rng) for _ in tokens]
    # Equality with the threshold, and p = q, are cases of their own.
    p_entries = [rng.choice((entry(rng), q, q * ratio)) for q in q_entries]
    q, p = full_rows(tokens, q_entries, vocabulary, falling=False), full_rows(tokens, p_entries, vocabulary, falling=True)
    return torch.cat([p, last_row(vocabulary)]), q, {"p": p_entries, "q": q_entries}


def one_round(rng: random.Random, rule: str) -> dict[str, Any]:
    vocabulary, ratio = rng.randint(2, 6), rng.choice((0.5, 0.6, 1.0, rng.uniform(0.05, 1)))
    tokens = [rng.randrange(vocabulary) for _ in range(rng.randint(0, 6))]
    p, q, entries = rows_of(rng, tokens, vocabulary, ratio)
    budget, kv_length, draw = rng.randint(1, 7), rng.randint(0, 9), uniform(rng)
    tests = [uniform(rng) for _ in tokens]
    try:
        if rule == "threshold":
            states = trace_round(MultiTokenDecoderSim(budget, ratio), q, p[:-1], tokens, kv_length).states
        else:
            states = trace_rule(RULES[rule](ratio), q, p, tokens, budget, tests, draw, kv_length).states
    except ValueError as error:
        assert "cannot have been drawn" in str(error)
        states = None
    given = {"rule": rule, "ratio": ratio, "budget": budget, "tokens": tokens, "tests": tests, "draw": draw, "kv_length": kv_length}
    return {"given": {**given, "p": p.tolist(), "q": q.tolist()}, "entries": entries, "vocabulary": vocabulary, "states": states}


def one_verification(rng: random.Random, rule: str) -> dict[str, Any]:
    """A rule alone, with every number that it may ask for."""
    vocabulary, ratio = rng.randint(2, 5), rng.uniform(0.05, 1)
    candidates = [rng.randrange(vocabulary) for _ in range(rng.randint(0, 4))]
    q, p = distributions(rng, len(candidates), vocabulary), distributions(rng, len(candidates) + 1, vocabulary)
    q = 0.9 * q + 0.1 / vocabulary  # so that every candidate can have been drawn
    tests, draws = ([uniform(rng) for _ in range(6)] for _ in range(2))
    found = RULES[rule](ratio).verify(candidates, q, p, GivenChance(tests, draws))
    outcome = {"accepted": found.accepted, "rejected_at": found.rejected_at, "next_token": found.next_token, "kind": found.kind}
    given = {"rule": rule, "ratio": ratio, "candidates": candidates, "q": q.tolist(), "p": p.tolist(), "tests": tests, "draws": draws}
    return {"given": given, "outcome": outcome}


def first_token(rng: random.Random, rule: str) -> dict[str, Any]:
    """The demonstration of sampling: one candidate a round, its exact limit, and rounds with the same numbers on both sides."""
    vocabulary, ratio = rng.randint(2, 5), rng.choice((0.5, 1.0, rng.uniform(0.05, 1)))
    q, p = distributions(rng, 1, vocabulary)[0], distributions(rng, 1, vocabulary)[0]
    verifier = RULES[rule](ratio)
    exact = emitted_distribution(verifier, lambda prefix: p, lambda prefix: q, k=1, n=1)
    rounds = []
    for _ in range(10):
        tests, draws = [uniform(rng)], [uniform(rng) for _ in range(3)]
        chance = GivenChance(tests, draws)
        candidate = chance.draw(q)
        rounds.append({"tests": tests, "draws": draws, "token": verifier.verify([candidate], q[None], torch.stack([p, p]), chance).tokens[0]})
    given = {"rule": rule, "ratio": ratio, "q": q.tolist(), "p": p.tolist()}
    return {"given": given, "exact": [exact.get((token,), 0.0) for token in range(vocabulary)], "rounds": rounds}


def one_curve(rng: random.Random) -> dict[str, Any]:
    survival = sorted((entry(rng) for _ in range(rng.randint(1, 8))), reverse=True)
    draft, verify = (rng.choice((0.0, rng.random(), 0.25)) for _ in range(2))
    points = [
        {"k": k, "tokens": expected_tokens(survival[:k]), "time": round_time(k, draft, verify), "speedup": speedup(survival[:k], draft, verify)}
        for k in range(len(survival) + 1)
    ]
    return {"survival": survival, "draft": draft, "verify": verify, "points": points, "best": best_k(survival, draft, verify)}


def write_vectors(path: Path) -> dict[str, Any]:
    """Write all vectors to `path`, and return them."""
    rng = random.Random(35)
    vectors = {
        "rounds": [one_round(rng, rule) for rule in ("threshold", "greedy", "sampling") for _ in range(400)],
        "verifications": [one_verification(rng, rule) for rule in RULES for _ in range(120)],
        "first": [first_token(rng, rule) for rule in ("sampling", "match", "threshold", "typical") for _ in range(40)],
        "curves": [one_curve(rng) for _ in range(100)],
    }
    path.write_text(json.dumps(vectors), encoding="utf-8")
    return vectors
