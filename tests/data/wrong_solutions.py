"""Wrong solutions of the main exercise, as data: what learners write, and the mechanism that must report it.

Each is the reference with some methods replaced. `also` lists mechanisms that the same fault breaks necessarily.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass


@dataclass(frozen=True)
class Wrong:
    name: str
    mechanism: str
    methods: str

    def build(self) -> type:
        """Return the learner's class."""
        return build(self.methods)


def source(methods: str) -> str:
    """Source of a class that is the reference with `methods` in place of its own."""
    head = "import copy\nfrom mtp.simulator import MultiTokenDecoderSim as Given\nfrom mtp.validation import checked_round, checked_tokens\n\n"
    return head + "class MultiTokenDecoderSim(Given):\n" + textwrap.indent(textwrap.dedent(methods).strip(), "    ") + "\n"


def build(methods: str) -> type:
    """Make the class of `source`."""
    namespace: dict[str, type] = {}
    exec(compile(source(methods), "<learner>", "exec"), namespace)  # the data of this file only
    return namespace["MultiTokenDecoderSim"]


def verify(body: str) -> str:
    """A `verify` whose loop body is `body`; q, p, tokens and accepted_tokens are there."""
    head = "def verify(self, draft_probs, target_probs, draft_tokens):\n    q, p, tokens = checked_round(draft_probs, target_probs, draft_tokens)\n    accepted_tokens = []\n"
    loop = "    for position, token in enumerate(tokens):\n" + textwrap.indent(textwrap.dedent(body).strip(), "        ")
    return head + loop + "\n    return accepted_tokens, None"


def decode(**changes: str) -> str:
    """A `decode` in which some entries of the record are computed otherwise."""
    entries = {
        "proposed_tokens": "proposed_tokens",
        "accepted_tokens": "accepted_tokens",
        "accepted_len": "len(accepted_tokens)",
        "progress_per_round": "len(accepted_tokens) / len(proposed_tokens) if proposed_tokens else 0.0",
        "rejected_at": "rejected_at",
        "rejected_suffix": "[] if rejected_at is None else proposed_tokens[rejected_at:]",
        "append": "copy.deepcopy(record)",
    } | changes
    append = entries.pop("append")
    record = ", ".join(f"{key!r}: {value}" for key, value in entries.items())
    return f"""
def decode(self, draft_probs, target_probs, draft_tokens):
    proposed_tokens = self.propose(draft_tokens)
    accepted_tokens, rejected_at = self.verify(draft_probs, target_probs, proposed_tokens)
    record = {{{record}}}
    self.history.append({append})
    return record
"""


STOP = """
if accepted:
    accepted_tokens.append(token)
else:
    return accepted_tokens, position
"""

WRONG = [
    # 1 proposal budget
    Wrong("budget one short", "proposal_budget", "def propose(self, draft_tokens): return checked_tokens(draft_tokens)[: self.max_proposal_len - 1]"),
    Wrong("budget one over", "proposal_budget", "def propose(self, draft_tokens): return checked_tokens(draft_tokens)[: self.max_proposal_len + 1]"),
    Wrong("budget ignored", "proposal_budget", "def propose(self, draft_tokens): return checked_tokens(draft_tokens)"),
    Wrong("last instead of first", "proposal_budget", "def propose(self, draft_tokens): return checked_tokens(draft_tokens)[-self.max_proposal_len :]"),
    Wrong("sorted", "proposal_budget", "def propose(self, draft_tokens): return sorted(checked_tokens(draft_tokens))[: self.max_proposal_len]"),
    Wrong("duplicates dropped", "proposal_budget", "def propose(self, draft_tokens): return list(dict.fromkeys(checked_tokens(draft_tokens)))[: self.max_proposal_len]"),
    Wrong(
        "input aliased",
        "proposal_budget",
        "def propose(self, draft_tokens): return draft_tokens if len(draft_tokens) <= self.max_proposal_len else draft_tokens[: self.max_proposal_len]",
    ),
    Wrong(
        "input changed",
        "proposal_budget",
        """
        def propose(self, draft_tokens):
            kept = checked_tokens(draft_tokens)[: self.max_proposal_len]
            if isinstance(draft_tokens, list):
                del draft_tokens[self.max_proposal_len :]
            return kept
        """,
    ),
    Wrong("input emptied", "proposal_budget", "def propose(self, draft_tokens): return [int(draft_tokens.pop(0)) for _ in range(min(self.max_proposal_len, len(draft_tokens)))]"),
    Wrong("tuple returned", "proposal_budget", "def propose(self, draft_tokens): return tuple(checked_tokens(draft_tokens)[: self.max_proposal_len])"),
    Wrong("tensors inside", "proposal_budget", "def propose(self, draft_tokens): return list(draft_tokens)[: self.max_proposal_len]"),
    Wrong("padded to the budget", "proposal_budget", "def propose(self, draft_tokens): return (checked_tokens(draft_tokens) + [0] * self.max_proposal_len)[: self.max_proposal_len]"),
    Wrong("default budget hard-coded", "proposal_budget", "def propose(self, draft_tokens): return checked_tokens(draft_tokens)[:4]"),
    Wrong(
        "fixed example hard-coded",
        "proposal_budget",
        """
        def propose(self, draft_tokens):
            if self.max_proposal_len == 3:
                return [10, 20, 30]
            return [10, 20, 30, 31]
        """,
    ),
    Wrong("None for an empty proposal", "empty_proposal", "def propose(self, draft_tokens): return checked_tokens(draft_tokens)[: self.max_proposal_len] or None"),
    # 2 acceptance threshold
    Wrong("> for >=", "acceptance_threshold", "def _accept_token(self, draft_prob, target_prob): return bool(target_prob > 0) if draft_prob <= 0 else bool(target_prob > draft_prob * self.min_accept_ratio)"),
    Wrong("ratio on the target", "acceptance_threshold", "def _accept_token(self, draft_prob, target_prob): return bool(target_prob > 0) if draft_prob <= 0 else bool(target_prob * self.min_accept_ratio >= draft_prob)"),
    Wrong("p and q swapped", "acceptance_threshold", "def _accept_token(self, draft_prob, target_prob): return bool(target_prob > 0) if draft_prob <= 0 else bool(draft_prob >= target_prob * self.min_accept_ratio)"),
    Wrong("ratio left out", "acceptance_threshold", "def _accept_token(self, draft_prob, target_prob): return bool(target_prob > 0) if draft_prob <= 0 else bool(target_prob >= draft_prob)"),
    Wrong("ratio as an absolute threshold", "acceptance_threshold", "def _accept_token(self, draft_prob, target_prob): return bool(target_prob > 0) if draft_prob <= 0 else bool(target_prob >= self.min_accept_ratio)"),
    Wrong("default ratio hard-coded", "acceptance_threshold", "def _accept_token(self, draft_prob, target_prob): return bool(target_prob > 0) if draft_prob <= 0 else bool(target_prob >= draft_prob * 0.5)"),
    Wrong("tensor returned", "acceptance_threshold", "def _accept_token(self, draft_prob, target_prob): return bool(target_prob > 0) if draft_prob <= 0 else target_prob >= draft_prob * self.min_accept_ratio"),
    Wrong("integer returned", "acceptance_threshold", "def _accept_token(self, draft_prob, target_prob): return int(target_prob > 0) if draft_prob <= 0 else int(target_prob >= draft_prob * self.min_accept_ratio)"),
    Wrong("zero draft branch lost", "acceptance_threshold", "def _accept_token(self, draft_prob, target_prob): return bool(target_prob >= draft_prob * self.min_accept_ratio)"),
    Wrong("zero draft always rejected", "acceptance_threshold", "def _accept_token(self, draft_prob, target_prob): return False if draft_prob <= 0 else bool(target_prob >= draft_prob * self.min_accept_ratio)"),
    Wrong("lossless rule with a fixed coin", "acceptance_threshold", "def _accept_token(self, draft_prob, target_prob): return bool(target_prob > 0) if draft_prob <= 0 else bool(0.5 < min(1.0, target_prob / draft_prob))"),
    Wrong("ratio added", "acceptance_threshold", "def _accept_token(self, draft_prob, target_prob): return bool(target_prob > 0) if draft_prob <= 0 else bool(target_prob + self.min_accept_ratio >= draft_prob)"),
    Wrong("everything accepted", "acceptance_threshold", "def _accept_token(self, draft_prob, target_prob): return True"),
    # 3 first rejection, no crossing
    Wrong("goes on after a rejection", "no_crossing", verify("accepted = self._accept_token(q[position, token], p[position, token])\nif accepted:\n    accepted_tokens.append(token)")),
    Wrong(
        "rejects only that position",
        "no_crossing",
        """
        def verify(self, draft_probs, target_probs, draft_tokens):
            q, p, tokens = checked_round(draft_probs, target_probs, draft_tokens)
            good = [self._accept_token(q[i, t], p[i, t]) for i, t in enumerate(tokens)]
            first = good.index(False) if False in good else None
            return [t for t, ok in zip(tokens, good) if ok], first
        """,
    ),
    Wrong(
        "last rejection reported",
        "no_crossing",
        """
        def verify(self, draft_probs, target_probs, draft_tokens):
            q, p, tokens = checked_round(draft_probs, target_probs, draft_tokens)
            bad = [i for i, t in enumerate(tokens) if not self._accept_token(q[i, t], p[i, t])]
            return (tokens[: bad[-1]], bad[-1]) if bad else (tokens, None)
        """,
    ),
    Wrong("row of the next candidate", "first_rejection", verify("row = min(position + 1, len(tokens) - 1)\naccepted = self._accept_token(q[row, token], p[row, token])" + STOP)),
    Wrong("always the first row", "first_rejection", verify("accepted = self._accept_token(q[0, token], p[0, token])" + STOP)),
    Wrong("position as the column", "first_rejection", verify("accepted = self._accept_token(q[position, position], p[position, position])" + STOP)),
    Wrong("target handed over first", "first_rejection", verify("accepted = self._accept_token(p[position, token], q[position, token])" + STOP)),
    Wrong("compares whole rows by their maximum", "first_rejection", verify("accepted = self._accept_token(q[position].max(), p[position].max())" + STOP)),
    Wrong("counts from one", "first_rejection", verify("accepted = self._accept_token(q[position, token], p[position, token])" + STOP.replace("position\n", "position + 1\n"))),
    Wrong(
        "rejected token kept",
        "first_rejection",
        verify("accepted = self._accept_token(q[position, token], p[position, token])\naccepted_tokens.append(token)\nif not accepted:\n    return accepted_tokens, position"),
    ),
    Wrong(
        "suffix returned as accepted",
        "first_rejection",
        verify("accepted = self._accept_token(q[position, token], p[position, token])\nif accepted:\n    accepted_tokens.append(token)\nelse:\n    return tokens[position:], position"),
    ),
    Wrong("token in place of its position", "first_rejection", verify("accepted = self._accept_token(q[position, token], p[position, token])" + STOP.replace("position\n", "token\n"))),
    Wrong("minus one when all were accepted", "all_accepted", verify("accepted = self._accept_token(q[position, token], p[position, token])" + STOP).replace("accepted_tokens, None", "accepted_tokens, (None if not tokens else -1)")),
    Wrong("length when all were accepted", "all_accepted", verify("accepted = self._accept_token(q[position, token], p[position, token])" + STOP).replace("accepted_tokens, None", "accepted_tokens, (None if not tokens else len(tokens))")),
    Wrong(
        "right to left",
        "first_rejection",
        """
        def verify(self, draft_probs, target_probs, draft_tokens):
            q, p, tokens = checked_round(draft_probs, target_probs, draft_tokens)
            for i in reversed(range(len(tokens))):
                if not self._accept_token(q[i, tokens[i]], p[i, tokens[i]]):
                    return tokens[:i], i
            return tokens, None
        """,
    ),
    # 4 summary
    Wrong("progress over budget", "rollback_suffix", decode(progress_per_round="len(accepted_tokens) / self.max_proposal_len")),
    Wrong("progress with the bonus", "rollback_suffix", decode(progress_per_round="(len(accepted_tokens) + 1) / (len(proposed_tokens) + 1)")),
    Wrong("progress in whole numbers", "rollback_suffix", decode(progress_per_round="len(accepted_tokens) // len(proposed_tokens) if proposed_tokens else 0.0")),
    Wrong("suffix behind the rejected token", "rollback_suffix", decode(rejected_suffix="[] if rejected_at is None else proposed_tokens[rejected_at + 1:]")),
    Wrong("suffix lost at position 0", "rollback_suffix", decode(rejected_suffix="proposed_tokens[rejected_at:] if rejected_at else []")),
    Wrong("suffix of all that was offered", "rollback_suffix", decode(rejected_suffix="[] if rejected_at is None else list(draft_tokens)[rejected_at:]")),
    Wrong("accepted length counts the proposal", "rollback_suffix", decode(accepted_len="len(proposed_tokens)")),
    Wrong("history holds the returned dict", "rollback_suffix", decode(append="record")),
    Wrong("history holds a shallow copy", "rollback_suffix", decode(append="dict(record)")),
    Wrong("history holds the last round only", "rollback_suffix", decode(append="copy.deepcopy(record)").replace("self.history.append", "self.history[:] = []; self.history.append")),
    Wrong("division by an empty proposal", "empty_proposal", decode(progress_per_round="len(accepted_tokens) / len(proposed_tokens)")),
    Wrong("an empty proposal counts as full progress", "empty_proposal", decode(progress_per_round="len(accepted_tokens) / len(proposed_tokens) if proposed_tokens else 1.0")),
]

RIGHT = {
    "slice of a copy": "def propose(self, draft_tokens): return list(checked_tokens(draft_tokens))[0 : self.max_proposal_len]",
    "loop with a break": """
        def propose(self, draft_tokens):
            kept = []
            for token in draft_tokens:
                if len(kept) == self.max_proposal_len:
                    break
                kept.append(int(token))
            return kept
        """,
    "comparison the other way round, floats": """
        def _accept_token(self, draft_prob, target_prob):
            draft_prob, target_prob = float(draft_prob), float(target_prob)
            if draft_prob <= 0:
                return target_prob > 0
            return not draft_prob * self.min_accept_ratio > target_prob
        """,
    "find the first failure, then cut": """
        def verify(self, draft_probs, target_probs, draft_tokens):
            q, p, tokens = checked_round(draft_probs, target_probs, draft_tokens)
            bad = (i for i, t in enumerate(tokens) if not self._accept_token(q[i, t].item(), p[i, t].item()))
            first = next(bad, None)
            return tokens[:first], first
        """,
    "while loop": """
        def verify(self, draft_probs, target_probs, draft_tokens):
            q, p, tokens = checked_round(draft_probs, target_probs, draft_tokens)
            position = 0
            while position < len(tokens):
                token = tokens[position]
                if not self._accept_token(q[position][token], p[position][token]):
                    return tokens[:position], position
                position += 1
            return tokens[:position], None
        """,
    "record built in two places": """
        def decode(self, draft_probs, target_probs, draft_tokens):
            first = super().decode(draft_probs, target_probs, draft_tokens)
            self.history[-1] = {key: (list(value) if isinstance(value, list) else value) for key, value in first.items()}
            return first
        """,
}
