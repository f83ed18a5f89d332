"""Checks that tests and mutants share: a test runs one on the real package, a mutant must make its own fail.

Every check builds its model from scratch and calls what may be replaced through its module, so that it sees what a mutant is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch
from enumeration import LikeliestFirst, enumerate_outputs, target_distribution
from mtp import checkpoint, decoding
from mtp.chance import Chance
from mtp.decoding import Session, Target, decode_mtp, decode_plain
from mtp.engine import Engine
from mtp.exact import distance
from mtp.lookups import NGramTable, PromptLookup
from mtp.model import ModelConfig, MTPLanguageModel, MTPModule
from mtp.mtp_drafter import MTPDrafter
from mtp.proposal import Proposal
from mtp.train import joint_loss
from mtp.verification import GreedyMatch
from tiny import TINY, random_tokens, tiny_model, tiny_target


def close(got: torch.Tensor, wanted: torch.Tensor, tolerance: float = 1e-10) -> None:
    assert got.shape == wanted.shape, (got.shape, wanted.shape)
    worst = (got - wanted).abs().max().item() if got.numel() else 0.0
    assert worst < tolerance, f"differs by {worst}"


# --- the module ---------------------------------------------------------------------------------------------------------


def check_golden_join() -> None:
    """[hidden ; token], by hand: hidden (3, 4) has mean square 12.5, token (1, -7) has 25."""
    module = MTPModule(replace(TINY, hidden_size=2, num_attention_heads=1, rms_norm_eps=0.0)).double().requires_grad_(False)
    module.hidden_layernorm.weight.copy_(torch.tensor([1.0, 10.0]))
    module.token_layernorm.weight.copy_(torch.tensor([100.0, 1000.0]))
    module.input_proj.weight.copy_(torch.tensor([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]]))
    joined = module.join(torch.tensor([[[3.0, 4.0]]]).double(), torch.tensor([[[1.0, -7.0]]]).double(), torch.tensor([1]))
    close(joined[0, 0], torch.tensor([(3 + 40) / 12.5**0.5, (100 - 7000) / 5]).double(), 1e-5)


def check_module_reuse() -> None:
    """A chain drafted with a cache, from every slot, equals the unrolled module that training uses."""
    model, text, depth = tiny_model(), random_tokens(2, 11), 4
    engine = Engine(model)
    hidden = model.hidden(text[:, :-1])
    wanted = model.mtp_states(hidden, text[:, 1:], depth)
    states = engine.trunk(text[:, :-1], engine.trunk_cache(2, 16))
    for slot in range(10 - depth):
        cache = engine.draft_cache(2, 16)
        state = engine.mtp(states[:, : slot + 1], text[:, 1 : slot + 2], cache)[:, -1:]
        for step in range(depth):
            if step:
                state = engine.mtp(state, text[:, slot + step + 1, None], cache)
            close(state[:, 0], wanted[step][:, slot])
            close(engine.mtp_logits(state)[:, 0], model.lm_head(wanted[step][:, slot]))


def check_engine(dtype: torch.dtype = torch.float64, tolerance: float = 1e-10) -> None:
    """Any way to cut a text into calls gives the model's own states and logits."""
    model, text = tiny_model(dtype=dtype), random_tokens(2, 12)
    engine = Engine(model)
    hidden = model.hidden(text)
    for cuts in ([12], [1] * 12, [5, 1, 4, 2]):
        cache = engine.trunk_cache(2, 12)
        states = torch.cat([engine.trunk(part, cache) for part in text.split(cuts, dim=1)], dim=1)
        close(states, hidden, tolerance)
        close(engine.logits(states), model.logits(hidden), tolerance)


def check_depth_one_loss() -> None:
    """Slot i's label is t_{i+2}: the loss by hand, with logits and labels picked one by one."""
    model, text = tiny_model(), random_tokens(1, 7)
    _, losses = joint_loss(model, text, 2, 0.3)
    hidden = model.hidden(text[:, :-1])
    first, second = model.mtp_states(hidden, text[:, 1:], 2)
    tokens = text[0].tolist()

    def nats(logits: torch.Tensor, token: int) -> float:
        return (torch.logsumexp(logits, 0) - logits[token]).item()

    by_hand = [
        sum(nats(model.logits(hidden)[0, i], tokens[i + 1]) for i in range(6)) / 6,
        sum(nats(model.lm_head(first)[0, i], tokens[i + 2]) for i in range(5)) / 5,
        sum(nats(model.lm_head(second)[0, i], tokens[i + 3]) for i in range(4)) / 4,
    ]
    for got, wanted in zip(losses, by_hand):
        assert abs(got - wanted) < 1e-9, (losses, by_hand)


# --- loading ------------------------------------------------------------------------------------------------------------


def check_missing_mtp_weights_fail() -> None:
    weights = {name: value for name, value in tiny_model().state_dict().items() if "mtp_layers.0.input_proj" not in name}
    try:
        checkpoint.load_weights(MTPLanguageModel(TINY), weights)
    except ValueError as error:
        assert "model.mtp_layers.0.input_proj.weight" in str(error)
        return
    raise AssertionError("a checkpoint without its MTP projection was loaded")


def check_mtp_needs_mtp_layers() -> None:
    target = tiny_target(replace(TINY, num_nextn_predict_layers=0))
    try:
        decode_mtp(target, [[1, 2, 3]], 2, max_new_tokens=5)
    except ValueError as error:
        assert "no MTP layers" in str(error)
        return
    raise AssertionError("MTP was asked of a checkpoint without MTP layers, and nobody said so")


# --- decoding -----------------------------------------------------------------------------------------------------------


class ScriptedDrafter:
    """Proposes what `choose(tokens so far, how many)` says; deterministic unless `q` is given."""

    name = "scripted"

    def __init__(self, choose: Callable[[list[int], int], list[int]]) -> None:
        self.choose = choose

    def start(self, session: Session) -> None:
        pass

    def read(self, session: Session) -> None:
        pass

    def propose(self, session: Session, counts: list[int]) -> Proposal:
        return Proposal([self.choose(tokens, count) for tokens, count in zip(session.tokens, counts)], [None] * len(counts))


def greedy_continuation(model: MTPLanguageModel, tokens: Sequence[int], count: int) -> list[int]:
    """The target's own choices, recomputed from nothing for each: slow, and independent of the engine."""
    tokens = list(tokens)
    for _ in range(count):
        tokens.append(int(model.logits(model.hidden(torch.tensor([tokens])))[0, -1].argmax()))
    return tokens[len(tokens) - count :]


def perfect(model: MTPLanguageModel) -> ScriptedDrafter:
    return ScriptedDrafter(lambda tokens, count: greedy_continuation(model, tokens, count))


def adversarial(model: MTPLanguageModel) -> ScriptedDrafter:
    """First candidate always wrong; what follows is right, to tempt a loop that looks at the wrong row."""

    def choose(tokens: list[int], count: int) -> list[int]:
        right = greedy_continuation(model, tokens, count)
        return [(right[0] + 1) % model.config.vocab_size, *right[1:]] if count else []

    return ScriptedDrafter(choose)


def random_drafter(vocab: int, seed: int = 0) -> ScriptedDrafter:
    generator = torch.Generator().manual_seed(seed)
    return ScriptedDrafter(lambda tokens, count: torch.randint(vocab, (count,), generator=generator).tolist())


def all_drafters(model: MTPLanguageModel) -> list[Any]:
    table = {(): 1, (3,): 4, (2, 5): 7, (1, 2, 3): 9}
    return [
        MTPDrafter(),
        PromptLookup(),
        NGramTable(table),
        perfect(model),
        adversarial(model),
        random_drafter(model.config.vocab_size),
    ]


PROMPTS = [[1, 2, 3, 4], [5], [6, 7, 6, 7, 6, 7, 6], [12, 0, 3]]


def check_greedy_equality(ks: Sequence[int] = (1, 2, 3, 4)) -> None:
    """Float64, every drafter, ragged batch and one by one: token for token what the model's own argmax gives."""
    target = tiny_target()
    wanted = [greedy_continuation(target.engine.model, prompt, 20) for prompt in PROMPTS]
    assert [result.tokens for result in decode_plain(target, PROMPTS, max_new_tokens=20)] == wanted
    for k in ks:
        for drafter in all_drafters(target.engine.model):
            results = decoding.decode(target, PROMPTS, drafter, k, max_new_tokens=20)
            assert [result.tokens for result in results] == wanted, (drafter.name, k)
            alone = decoding.decode(target, PROMPTS[2:3], drafter, k, max_new_tokens=20)[0]
            assert alone.tokens == wanted[2], (drafter.name, k)


def check_growth() -> None:
    """A round adds what it accepted and one more, less what was cut."""
    target = tiny_target()
    for drafter in all_drafters(target.engine.model):
        result = decoding.decode(target, [[1, 2, 3]], drafter, 3, max_new_tokens=21)[0]
        assert all(record.emitted == record.accepted + 1 - record.truncated for record in result.rounds), drafter.name
        assert len(result.tokens) == 1 + sum(record.emitted for record in result.rounds) == 21


def check_adversary_gets_nothing() -> None:
    target = tiny_target()
    for k in (1, 2, 4):
        result = decoding.decode(target, [[1, 2, 3]], adversarial(target.engine.model), k, max_new_tokens=20)[0]
        assert result.ledger.accepted == 0 and result.ledger.drafted > 0
        assert result.tokens == greedy_continuation(target.engine.model, [1, 2, 3], 20)


def forced_rounds(
    target: Target, prompts: list[list[int]], accepted: list[list[int]], chunk: int | None = None
) -> tuple[Session, MTPDrafter]:
    """Run rounds in which row r accepts exactly accepted[round][r] of its candidates; check both caches after each.

    MTP drafts (and fills its cache), then its candidates are replaced by right ones up to the wanted a and a wrong one after.
    """
    model, k = target.engine.model, 3
    wanted: list[int] = []

    class Steered(MTPDrafter):
        def propose(self, session: Session, counts: list[int]) -> Proposal:
            proposal = super().propose(session, counts)
            steered = []
            for tokens, count, a in zip(session.tokens, counts, wanted):
                right = greedy_continuation(model, tokens, count)
                steered.append(
                    [token if place < a else (token + 1) % model.config.vocab_size for place, token in enumerate(right)]
                )
            assert all(len(row) == k for row in proposal.candidates)
            return Proposal(steered, [None] * len(counts))

    drafter = Steered()
    session = decoding.open_session(target, prompts, k, 0.0, None, None, 0, (), 60, None)
    drafter.start(session)
    for row, token in enumerate(session.sample(session.prefill(chunk, drafter))):
        session.emit(row, [token])
    for per_row in accepted:
        wanted[:] = per_row
        before = [len(tokens) for tokens in session.tokens]
        records = decoding.one_round(session, drafter, k, [GreedyMatch()] * len(prompts))
        assert [record.accepted for record in records if record] == per_row
        compare_caches(session, drafter)
        for row, a in enumerate(per_row):
            now = len(session.tokens[row])
            assert session.cache.lengths[row] == now - 1
            assert drafter.cache.lengths[row] == before[row] - 1 == now - a - 2
            assert len(session.pending[row]) == a + 1
    return session, drafter


def compare_caches(session: Session, drafter: MTPDrafter) -> None:
    """Both caches, and the pending states, against a recompute of each row's text in one teacher-forced call."""
    engine = session.engine
    for row, tokens in enumerate(session.tokens):
        text = torch.tensor([tokens])
        trunk, draft = engine.trunk_cache(1, len(tokens)), engine.draft_cache(1, len(tokens))
        states = engine.trunk(text[:, :-1], trunk)
        engine.mtp(states, text[:, 1:], draft)
        slots = drafter.cache.lengths[row]
        close(session.cache.entries(row), trunk.entries(0)[:, :, :, : len(tokens) - 1])
        close(drafter.cache.entries(row), draft.entries(0)[:, :, :, :slots])
        close(session.pending[row], states[0, slots:])


def check_caches_for_every_acceptance() -> None:
    for a in range(4):
        for following in range(4):
            forced_rounds(tiny_target(), [[1, 2, 3, 4]], [[a], [following], [a]])


def check_caches_ragged() -> None:
    forced_rounds(tiny_target(), [[1, 2, 3, 4], [5], [6, 7, 6]], [[0, 3, 1], [3, 0, 2], [2, 2, 2], [0, 0, 0], [1, 3, 0]])


def check_chunked_prefill() -> None:
    for chunk in (1, 2, 3, 5, 100):
        forced_rounds(tiny_target(), [[1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 0, 1]], [[1, 2], [3, 0]], chunk)
        forced_rounds(tiny_target(), [[1, 2, 3, 4, 5, 6, 7], [5], [6, 7, 6, 5]], [[0, 3, 1], [3, 0, 2]], chunk)


def check_stop_and_limit() -> None:
    """Cut at the first stop token, inside an accepted prefix too, and at the limit; the cut is counted."""
    target = tiny_target()
    text = greedy_continuation(target.engine.model, [1, 2, 3], 30)
    for stop in set(text):
        first = text.index(stop)
        for k in (1, 3, 4):
            result = decoding.decode(target, [[1, 2, 3]], perfect(target.engine.model), k, stop=[stop], max_new_tokens=30)[0]
            assert result.tokens == text[: first + 1]
            assert result.ledger.truncated == sum(record.accepted + 1 for record in result.rounds) - first
    for limit in range(1, 12):
        for k in (1, 3, 4):
            result = decoding.decode(target, [[1, 2, 3]], perfect(target.engine.model), k, stop=(), max_new_tokens=limit)[0]
            assert result.tokens == text[:limit]


def shipped_divergences(
    language: str, dtype: torch.dtype, prompts: list[list[int]], ks: Sequence[int], new_tokens: int
) -> list[dict[str, Any]]:
    """Where greedy decoding with a drafter leaves plain decoding, with the target's top-2 margin at that place."""
    target = Target.load(language, dtype)
    plain = [result.tokens for result in decode_plain(target, prompts, stop=(), max_new_tokens=new_tokens)]
    found = []
    for drafter in (MTPDrafter(), PromptLookup(), target.ngram_table()):
        for k in ks:
            results = decoding.decode(target, prompts, drafter, k, stop=(), max_new_tokens=new_tokens)
            for index, (prompt, result, wanted) in enumerate(zip(prompts, results, plain)):
                if result.tokens != wanted:
                    place = next(i for i, (one, other) in enumerate(zip(result.tokens, wanted)) if one != other)
                    text = torch.tensor([[*prompt, *wanted[:place]]])
                    best = target.engine.model.logits(target.engine.model.hidden(text))[0, -1].topk(2).values
                    found.append(
                        {"drafter": drafter.name, "k": k, "prompt": index, "place": place, "margin": (best[0] - best[1]).item()}
                    )
    return found


# --- distributions ------------------------------------------------------------------------------------------------------

FEW = ModelConfig(
    vocab_size=3, hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=2, max_position_embeddings=32
)
TEMPERATURE, TOP_P = 0.8, 0.95


def few_target() -> Target:
    """Three tokens, none of them certain, and a draft that is often wrong."""
    return tiny_target(FEW, seed=3, spread=0.5)


def check_exact_distribution(drafters: Sequence[Callable[[], Any]] = (MTPDrafter,), count: int = 4, k: int = 2) -> None:
    """Every path through the real loop: the joint distribution of the next tokens is the target's own."""
    target, prompt = few_target(), [1, 2, 0]
    wanted = target_distribution(target, prompt, count, TEMPERATURE, TOP_P)
    for make in drafters:

        def run(script: Chance) -> list[int]:
            return decoding.decode(
                target,
                [prompt],
                make(),
                k,
                temperature=TEMPERATURE,
                top_p=TOP_P,
                stop=(),
                max_new_tokens=count,
                generators=[script],
            )[0].tokens

        found = enumerate_outputs(run)
        assert abs(sum(found.values()) - 1) < 1e-12
        assert distance(found, wanted) < 1e-12, (make, distance(found, wanted))


def check_exact_distribution_of_a_batch() -> None:
    """A row at T = 0.8 beside rows of other temperatures and lengths keeps its own distribution."""
    target, prompts = few_target(), [[2], [1, 2, 0], [0, 1]]
    wanted = target_distribution(target, prompts[1], 3, TEMPERATURE, TOP_P)
    for others in ((0.0, 2.0), (3.0, 0.3)):

        def run(script: Chance) -> list[int]:
            return decode_mtp(
                target, prompts, 2, temperature=[others[0], TEMPERATURE, others[1]], top_p=TOP_P, stop=(), max_new_tokens=3,
                generators=[LikeliestFirst(), script, LikeliestFirst()],
            )[1].tokens  # fmt: skip

        found = enumerate_outputs(run)
        assert distance(found, wanted) < 1e-12, (others, distance(found, wanted))
