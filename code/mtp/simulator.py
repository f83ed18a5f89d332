"""The teaching simulator: one round of proposal, left-to-right verification and rollback, with a threshold rule.

The threshold rule shows control flow. It does NOT keep the target's distribution: a decoder that used it could write text
that its target would not. Rules that do keep it are greedy match and speculative sampling (Leviathan et al. 2023,
arXiv 2211.17192; Chen et al. 2023, arXiv 2302.01318).

p is the target's probability, q the draft's.
"""

from __future__ import annotations

import copy
from typing import Any

from .validation import check_settings, checked_round, checked_tokens


class MultiTokenDecoderSim:
    """One round of multi-token decoding over given probabilities, without a model.

    Args:
        max_proposal_len: the proposal budget, an int greater than 0.
        min_accept_ratio: the acceptance threshold r in (0, 1].

    Attributes:
        history: one record for each `decode`, oldest first.

    Raises:
        ValueError: names the argument and the value; `history` stays as it was.
    """

    def __init__(self, max_proposal_len: int = 4, min_accept_ratio: float = 0.5) -> None:
        check_settings(max_proposal_len, min_accept_ratio)
        self.max_proposal_len = max_proposal_len
        self.min_accept_ratio = min_accept_ratio
        self.history: list[dict[str, Any]] = []

    def propose(self, draft_tokens: list[int]) -> list[int]:
        """Return the first `max_proposal_len` tokens, in order, as a new list. Any iterable of integers is taken."""
        tokens = checked_tokens(draft_tokens)
        return tokens[: self.max_proposal_len]

    def _accept_token(self, draft_prob: float, target_prob: float) -> bool:
        """Decide about one candidate from its q and p: accepted iff p >= r * q, and iff p > 0 where q is not positive."""
        if draft_prob <= 0:
            return bool(target_prob > 0)
        return bool(target_prob >= draft_prob * self.min_accept_ratio)

    def verify(self, draft_probs: Any, target_probs: Any, draft_tokens: list[int]) -> tuple[list[int], int | None]:
        """Test all of `draft_tokens` from left to right; the first rejection ends the round.

        Args:
            draft_probs: q, shape (positions, vocab); row i belongs to candidate i.
            target_probs: p, same shape.
            draft_tokens: the candidates as proposed; `verify` does not cut them to the budget, `propose` does.

        Returns:
            The accepted prefix, and the position of the first rejection (None if there was none).
        """
        q, p, tokens = checked_round(draft_probs, target_probs, draft_tokens)
        accepted_tokens: list[int] = []
        for position, token in enumerate(tokens):
            accepted = self._accept_token(q[position, token], p[position, token])
            if accepted:
                accepted_tokens.append(token)
            else:
                return accepted_tokens, position
        return accepted_tokens, None

    def decode(self, draft_probs: Any, target_probs: Any, draft_tokens: list[int]) -> dict[str, Any]:
        """Run one round and put it on record.

        Returns:
            `proposed_tokens`, `accepted_tokens`, `accepted_len`, `progress_per_round` (accepted / proposed, 0.0 when nothing
            was proposed), `rejected_at` (position or None), `rejected_suffix` (proposed tokens from the rejected one on).
        """
        proposed_tokens = self.propose(draft_tokens)
        accepted_tokens, rejected_at = self.verify(draft_probs, target_probs, proposed_tokens)
        record = {
            "proposed_tokens": proposed_tokens,
            "accepted_tokens": accepted_tokens,
            "accepted_len": len(accepted_tokens),
            "progress_per_round": len(accepted_tokens) / len(proposed_tokens) if proposed_tokens else 0.0,
            "rejected_at": rejected_at,
            "rejected_suffix": [] if rejected_at is None else proposed_tokens[rejected_at:],
        }
        self.history.append(copy.deepcopy(record))
        return record
