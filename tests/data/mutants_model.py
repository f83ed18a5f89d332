"""Deliberately wrong variants of the native-MTP package, one for each fault of public implementations that it could have.

Each replaces one function of the package the way the fault would; `killed_by` names the check that must fail on it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from mtp import checkpoint, decoding, engine, model, mtp_drafter, train
from mtp.proposal import Proposal
from mtp.warping import warp
from mutants import Mutant


def _lenient_loading(original: Any) -> Any:
    def load_weights(target: Any, weights: dict[str, torch.Tensor]) -> None:
        target.load_state_dict(weights, strict=False)

    return load_weights


def _plain_speed(original: Any) -> Any:
    def decode(target: Any, prompts: Any, drafter: Any, k: int = 3, **settings: Any) -> Any:
        if not target.engine.has_mtp:
            return decoding.decode_plain(target, prompts, **settings)
        return original(target, prompts, drafter, k, **settings)

    return decode


def _token_first(original: Any) -> Any:
    def join(self: Any, hidden: torch.Tensor, embedded: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        embedded = embedded.masked_fill((positions == 0)[..., None], 0)
        return self.input_proj(torch.cat([self.token_layernorm(embedded), self.hidden_layernorm(hidden)], dim=-1))

    return join


def _halves_swapped(original: Any) -> Any:
    def __init__(self: Any, target: Any) -> None:
        original(self, target)
        module = target.model.mtp_layers[0]
        by_token, by_hidden = module.input_proj.weight.split(self.width, dim=1)
        self.from_hidden = self.norm.fold(module.hidden_layernorm.weight, by_hidden)
        self.from_token = module.token_layernorm(target.model.embed_tokens.weight) @ by_token.t()

    return __init__


def _state_after_trunk_norm(original: Any) -> Any:
    def trunk(self: Any, tokens: torch.Tensor, cache: Any) -> torch.Tensor:
        states = original(self, tokens, cache)
        self.head = self.model.lm_head.weight.t()
        return self.model.model.norm(states)

    return trunk


def _reuse_before_final_norm(original: Any) -> Any:
    def mtp(self: Any, states: torch.Tensor, next_tokens: torch.Tensor, cache: Any) -> torch.Tensor:
        weight, self.mtp_norm = self.mtp_norm, torch.ones_like(self.mtp_norm)
        out = original(self, states, next_tokens, cache)
        self.mtp_norm = weight
        return out

    return mtp


def _row_off_by_one(original: Any) -> Any:
    def verify(self: Any, candidates: list[int], q: Any, p: torch.Tensor, generator: Any) -> Any:
        return original(self, candidates, q, p.roll(-1, dims=0), generator)

    return verify


def _first_unverified(original: Any) -> Any:
    def verify(self: Any, candidates: list[int], q: Any, p: torch.Tensor, generator: Any) -> Any:
        if not candidates:
            return original(self, candidates, q, p, generator)
        outcome = original(self, candidates[1:], None if q is None else q[1:], p[1:], generator)
        return replace(outcome, accepted=[candidates[0], *outcome.accepted])

    return verify


def _rejected_stay(original: Any) -> Any:
    def verify(self: Any, candidates: list[int], q: Any, p: torch.Tensor, generator: Any) -> Any:
        outcome = original(self, candidates, q, p, generator)
        return replace(outcome, accepted=list(candidates))

    return verify


def _rounds_with(change: Callable[[Any, list[Any]], None]) -> Callable[[Any], Any]:
    """A loop that does `change(session, records)` after every round."""

    def make(original: Any) -> Any:
        def one_round(session: Any, drafter: Any, k: int, rules: list[Any]) -> list[Any]:
            records = original(session, drafter, k, rules)
            change(session, records)
            return records

        return one_round

    return make


def _last_draft_forgotten(session: Any, records: list[Any]) -> None:
    for row, record in enumerate(records):
        if record is not None and record.kind == "bonus" and record.accepted:
            session.pending[row] = session.pending[row][:-1]


def _wrong_position(original: Any) -> Any:
    """Hands on the states of the last positions verified, in place of the last ones accepted."""

    def one_round(session: Any, drafter: Any, k: int, rules: list[Any]) -> list[Any]:
        seen = []
        trunk = session.engine.trunk
        session.engine.trunk = lambda *arguments: seen.append(trunk(*arguments)) or seen[-1]
        records = original(session, drafter, k, rules)
        session.engine.trunk = trunk
        for row, record in enumerate(records):
            if record is not None:
                session.pending[row] = seen[-1][row, -(record.accepted + 1) :]
        return records

    return one_round


def _propose_trimmed(shift: int) -> Callable[[Any], Any]:
    def make(original: Any) -> Any:
        def propose(self: Any, session: Any, counts: list[int]) -> Proposal:
            proposal = original(self, session, counts)
            if max(counts):
                self.cache.lengths = [max(length + shift, 0) for length in self.cache.lengths]
            return proposal

        return propose

    return make


def _shared_buffer(original: Any) -> Any:
    """Every call of the module works in one buffer, which it clears first: a state handed on is gone before it is read."""

    def mtp(self: Any, states: torch.Tensor, next_tokens: torch.Tensor, cache: Any) -> torch.Tensor:
        if not hasattr(self, "_buffer"):
            self._buffer = torch.zeros(8, 64, states.shape[-1], dtype=states.dtype)
        self._buffer.zero_()
        out = original(self, states, next_tokens, cache)
        view = self._buffer[: out.shape[0], : out.shape[1]]
        view.copy_(out)
        return view

    return mtp


def _predicted_at_chunk_end(original: Any) -> Any:
    """At the end of a chunk the module reads the token the target would have said, not the prompt's own."""

    def read(self: Any, session: Any) -> None:
        kept = [list(tokens) for tokens in session.tokens]
        for row, tokens in enumerate(session.tokens):
            end = session.cache.lengths[row]
            if 0 < end < len(tokens):
                tokens[end] = int(session.engine.logits(session.pending[row][-1]).argmax())
        original(self, session)
        session.tokens[:] = kept

    return read


def _coarse_rows(original: Any) -> Any:
    """Calls over several positions round differently from calls over one, as kernels in half precision do."""

    def logits(self: Any, states: torch.Tensor) -> torch.Tensor:
        out = original(self, states)
        several = states.dim() == 3 and states.shape[1] > 1
        return out.to(torch.bfloat16).to(out.dtype) if several else out

    return logits


def _labels_off_by_one(original: Any) -> Any:
    return lambda tokens, depth: original(tokens, depth - 1)[:, :-1]


def _stop_ignored(original: Any) -> Any:
    def emit(self: Any, row: int, tokens: list[int]) -> int:
        kept = tokens[: self.room(row)]
        self.tokens[row] += kept
        self.done[row] = kept[-1] in self.stop or self.room(row) == 0
        return len(tokens) - len(kept)

    return emit


def _limit_in_whole_rounds(original: Any) -> Any:
    return lambda self, row: 99 if original(self, row) > 0 else 0


def _cut_uncounted(original: Any) -> Any:
    def emit(self: Any, row: int, tokens: list[int]) -> int:
        original(self, row, tokens)
        return 0

    return emit


def _temperature_on_first_position(original: Any) -> Any:
    def warp_rows(self: Any, logits: torch.Tensor) -> torch.Tensor:
        first = original(self, logits[:, :1])
        return torch.cat([first, warp(logits[:, 1:], 1.0, self.top_k, self.top_p)], dim=1)

    return warp_rows


def _one_temperature_for_all(original: Any) -> Any:
    def warp_rows(self: Any, logits: torch.Tensor) -> torch.Tensor:
        return warp(logits, self.temperatures[0], self.top_k, self.top_p)

    return warp_rows


_GREEDY, _SPECULATIVE = decoding.GreedyMatch, decoding.SpeculativeSampling
_ENGINE, _SESSION, _DRAFTER = engine.Engine, decoding.Session, mtp_drafter.MTPDrafter

MUTANTS = [
    Mutant(
        4,
        "missing weights keep their random start",
        checkpoint,
        "load_weights",
        _lenient_loading,
        "check_missing_mtp_weights_fail",
    ),
    Mutant(5, "MTP on, no MTP layers, plain speed", decoding, "decode", _plain_speed, "check_mtp_needs_mtp_layers"),
    Mutant(6, "token before hidden state", model.MTPModule, "join", _token_first, "check_golden_join"),
    Mutant(6, "halves of input_proj swapped when packed", _ENGINE, "__init__", _halves_swapped, "check_module_reuse"),
    Mutant(7, "state taken after the trunk's norm", _ENGINE, "trunk", _state_after_trunk_norm, "check_module_reuse"),
    Mutant(7, "module reused before its final norm", _ENGINE, "mtp", _reuse_before_final_norm, "check_module_reuse"),
    Mutant(13, "row i verifies candidate i - 1", _GREEDY, "verify", _row_off_by_one, "check_greedy_equality"),
    Mutant(13, "first candidate committed unverified", _GREEDY, "verify", _first_unverified, "check_adversary_gets_nothing"),
    Mutant(14, "rejected tokens stay in the text", _GREEDY, "verify", _rejected_stay, "check_greedy_equality"),
    Mutant(
        15,
        "last draft never enters the draft cache",
        decoding,
        "one_round",
        _rounds_with(_last_draft_forgotten),
        "check_caches_for_every_acceptance",
    ),
    Mutant(
        16,
        "draft cache trimmed by one too many",
        _DRAFTER,
        "propose",
        _propose_trimmed(-1),
        "check_caches_for_every_acceptance",
    ),
    Mutant(16, "draft cache keeps a slot of the chain", _DRAFTER, "propose", _propose_trimmed(1), "check_caches_ragged"),
    Mutant(
        17, "state of the last position verified", decoding, "one_round", _wrong_position, "check_caches_for_every_acceptance"
    ),
    Mutant(18, "state handed on aliases a buffer", _ENGINE, "mtp", _shared_buffer, "check_module_reuse"),
    Mutant(19, "chunk's end seeded with a predicted token", _DRAFTER, "read", _predicted_at_chunk_end, "check_chunked_prefill"),
    Mutant(20, "several positions round differently", _ENGINE, "logits", _coarse_rows, "check_engine"),
    Mutant(23, "labels off by one", train, "mtp_labels", _labels_off_by_one, "check_depth_one_loss"),
    Mutant(25, "stop token inside the accepted prefix ignored", _SESSION, "emit", _stop_ignored, "check_stop_and_limit"),
    Mutant(25, "more tokens than asked for", _SESSION, "room", _limit_in_whole_rounds, "check_stop_and_limit"),
    Mutant(25, "cut not counted", _SESSION, "emit", _cut_uncounted, "check_stop_and_limit"),
    Mutant(
        26,
        "temperature not expanded to the draft positions",
        _SESSION,
        "warp_rows",
        _temperature_on_first_position,
        "check_exact_distribution",
    ),
    Mutant(
        26,
        "one temperature for a batch of several",
        _SESSION,
        "warp_rows",
        _one_temperature_for_all,
        "check_exact_distribution_of_a_batch",
    ),
]
