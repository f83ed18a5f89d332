"""Ends of a round, wrong and right: (mechanism that must fail, body of `end_of_round(trunk, draft, states, n, a)`)."""

WRONG = [
    ("trunk", "trunk.rollback([n - 1 + a]); draft.rollback([n - 1]); return states[: a + 1]"),
    ("trunk", "trunk.rollback([n + a + 1]); draft.rollback([n - 1]); return states[: a + 1]"),
    ("trunk", "draft.rollback([n - 1]); return states[: a + 1]"),
    ("trunk", "trunk.rollback([n]); draft.rollback([n - 1]); return states[: a + 1]"),
    ("trunk", "trunk.rollback([a]); draft.rollback([n - 1]); return states[: a + 1]"),
    ("draft", "trunk.rollback([n + a]); return states[: a + 1]"),
    ("draft", "trunk.rollback([n + a]); draft.rollback([n + a]); return states[: a + 1]"),
    ("draft", "trunk.rollback([n + a]); draft.rollback([n - 1 + min(a, len(states) - 2)]); return states[: a + 1]"),
    ("draft", "trunk.rollback([n + a]); draft.rollback([max(n - 2, 0)]); return states[: a + 1]"),
    ("draft", "trunk.rollback([n + a]); draft.rollback([max(n - 1 - a, 0)]); return states[: a + 1]"),
    ("draft", "trunk.rollback([n + a])\n    if a < len(states) - 1: draft.rollback([n - 1])\n    return states[: a + 1]"),
    ("draft", "trunk.rollback([n + a]); draft.rollback([0]); return states[: a + 1]"),
    ("pending", "trunk.rollback([n + a]); draft.rollback([n - 1]); return states[:a]"),
    ("pending", "trunk.rollback([n + a]); draft.rollback([n - 1]); return states[a : a + 1]"),
    ("pending", "trunk.rollback([n + a]); draft.rollback([n - 1]); return states[a:]"),
    ("pending", "trunk.rollback([n + a]); draft.rollback([n - 1]); return states[-(a + 1) :]"),
    ("pending", "trunk.rollback([n + a]); draft.rollback([n - 1]); return states"),
    ("pending", "trunk.rollback([n + a]); draft.rollback([n - 1]); return states[-1:]"),
    ("pending", "trunk.rollback([n + a]); draft.rollback([n - 1]); return states[: a + 1].tolist()"),
    ("pending", "trunk.rollback([n + a]); draft.rollback([n - 1])"),
    ("moves", "trunk.rollback([n + a]); draft.rollback([n - 1]); trunk.store[..., n + a :, :] = 0; return states[: a + 1]"),
    ("moves", "trunk.rollback([n + a]); draft.rollback([n - 1]); draft.store = draft.store[..., : n - 1, :].clone(); return states[: a + 1]"),
    ("recompute", "trunk.rollback([n + a]); draft.rollback([n - 1 + min(a, len(states) - 2)]); return states[: a + 1]"),
    ("recompute", "trunk.rollback([n + a]); draft.rollback([n - 1]); return states[-(a + 1) :]"),
    ("recompute", "draft.rollback([n - 1]); return states[: a + 1]"),
    ("text", "draft.rollback([n - 1]); return states[: a + 1]"),
    ("text", "trunk.rollback([n - 1 + a]); draft.rollback([n - 1]); return states[: a + 1]"),
]
RIGHT = [
    "trunk.rollback([n + a]); draft.rollback([n - 1]); return states[: a + 1]",
    "k = len(states) - 1; trunk.rollback([trunk.lengths[0] - (k - a)]); draft.rollback([draft.lengths[0] - (k - 1)]); return states[: a + 1]",
    "draft.rollback([n - 1]); trunk.rollback([a + n]); return states[torch.arange(a + 1)]",
    "trunk.lengths = [n + a]; draft.lengths = [n - 1]; return states[: a + 1].clone()",
]
# Faults of the draft cache that leave the text what it was: only acceptance suffers.
SILENT = [WRONG[5][1], WRONG[7][1], WRONG[15][1]]
