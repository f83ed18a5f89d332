"""Decoding: greedy equality, exact distributions, stopping, batches, streaming, settings."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from enumeration import enumerate_outputs, target_distribution
from model_checks import (
    FEW,
    TEMPERATURE,
    TOP_P,
    ScriptedDrafter,
    adversarial,
    check_adversary_gets_nothing,
    check_exact_distribution,
    check_exact_distribution_of_a_batch,
    check_greedy_equality,
    check_growth,
    check_stop_and_limit,
    few_target,
    greedy_continuation,
    perfect,
    random_drafter,
    shipped_divergences,
)
from mtp.benchmark import held_out_prompts
from mtp.chance import SeededChance
from mtp.decoding import Target, decode, decode_mtp, decode_ngram, decode_plain, decode_prompt_lookup
from mtp.exact import distance
from mtp.lookups import NGramTable, PromptLookup
from mtp.mtp_drafter import MTPDrafter
from mtp.proposal import Proposal
from mtp.warping import warp
from test_checkpoint import SHIPPED_LANGUAGES
from tiny import TINY, tiny_target

# Greedy decoding in float32 may leave plain decoding only where the target itself hardly prefers a token.
LARGEST_MARGIN = 1e-3


def test_greedy_equals_plain():
    check_greedy_equality()


def test_round_grows_by_accepted_and_one():
    check_growth()


def test_adversary_gets_nothing_and_changes_nothing():
    check_adversary_gets_nothing()


def test_stop_and_limit():
    check_stop_and_limit()


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_perfect_drafter_gets_everything(k: int):
    target = tiny_target()
    result = decode(target, [[1, 2, 3]], perfect(target.engine.model), k, max_new_tokens=1 + 5 * (k + 1))[0]
    assert [record.accepted for record in result.rounds] == [k] * 5
    assert {record.kind for record in result.rounds} == {"bonus"}
    assert result.tokens == greedy_continuation(target.engine.model, [1, 2, 3], 1 + 5 * (k + 1))


class SelfDrafter:
    """The target as its own drafter at a temperature: q is p, so nothing may be rejected."""

    name = "self"

    def start(self, session: Any) -> None:
        pass

    def read(self, session: Any) -> None:
        pass

    def propose(self, session: Any, counts: list[int]) -> Proposal:
        model, tokens, rows = session.engine.model, list(session.tokens[0]), []
        for _ in range(counts[0]):
            logits = model.logits(model.hidden(torch.tensor([tokens])))[0, -1]
            rows.append(warp(logits, session.temperatures[0], session.top_k, session.top_p))
            tokens.append(int(torch.multinomial(rows[-1], 1)))
        drawn = tokens[len(session.tokens[0]) :]
        return Proposal([drawn], [torch.stack(rows) if rows else None])


def test_target_as_its_own_drafter_is_never_rejected():
    torch.manual_seed(0)
    result = decode(tiny_target(spread=0.4), [[1, 2, 3]], SelfDrafter(), 3, temperature=0.8, stop=(), max_new_tokens=41)[0]
    assert [record.accepted for record in result.rounds] == [3] * 10


def test_exact_distribution_of_mtp():
    check_exact_distribution()


def test_exact_distribution_of_mtp_with_more_candidates():
    check_exact_distribution(count=4, k=3)


def test_exact_distribution_whatever_the_drafter():
    """One-hot drafts: greedy MTP, lookups, an always wrong one, the perfect one, a random one."""
    model = few_target().engine.model
    makers = [
        lambda: MTPDrafter(sample=False),
        PromptLookup,
        lambda: NGramTable({(): 1, (2,): 0, (0, 1): 2}),
        lambda: adversarial(model),
        lambda: perfect(model),
        lambda: random_drafter(FEW.vocab_size),
    ]
    check_exact_distribution(makers, count=3)


def test_exact_distribution_of_a_row_in_a_batch():
    check_exact_distribution_of_a_batch()


def test_plain_sampling_is_the_targets_distribution():
    target, prompt = few_target(), [1, 2, 0]
    found = enumerate_outputs(
        lambda script: (
            decode_plain(
                target, [prompt], temperature=TEMPERATURE, top_p=TOP_P, stop=(), max_new_tokens=3, generators=[script]
            )[0].tokens
        )
    )
    assert distance(found, target_distribution(target, prompt, 3, TEMPERATURE, TOP_P)) < 1e-12


def test_enumeration_notices_a_wrong_temperature():
    """The yardstick itself: the same loop at T = 1 lies far from the target at T = 0.8."""
    target, prompt = few_target(), [1, 2, 0]
    found = enumerate_outputs(
        lambda script: (
            decode_mtp(target, [prompt], 2, temperature=1.0, top_p=TOP_P, stop=(), max_new_tokens=3, generators=[script])[
                0
            ].tokens
        )
    )
    assert distance(found, target_distribution(target, prompt, 3, TEMPERATURE, TOP_P)) > 0.01


# --- the shipped models -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", SHIPPED_LANGUAGES)
class TestShipped:
    def prompts(self, language: str) -> list[list[int]]:
        texts = held_out_prompts(language)
        prompts = [*texts["test"], *texts["tune"]][:50]
        assert len(prompts) == 50
        return prompts

    def test_greedy_equality_in_float64(self, language: str):
        """50 prompts, 100 tokens, every source of candidates, k = 1 … 4 (the second model at k = 3): exact."""
        ks = (1, 2, 3, 4) if language == "en" else (3,)
        assert shipped_divergences(language, torch.float64, self.prompts(language), ks, 100) == []

    def test_greedy_divergence_in_float32_is_a_tie(self, language: str):
        ks = (1, 3) if language == "en" else (3,)
        found = shipped_divergences(language, torch.float32, self.prompts(language), ks, 100)
        print(f"{language}: {len(found)} divergences in float32: {found}")
        assert all(divergence["margin"] < LARGEST_MARGIN for divergence in found), found

    def test_acceptance(self, language: str):
        """What the module is for; margins below the measured figures, see the model card."""
        target, prompts = Target.load(language), self.prompts(language)[:16]
        for temperature, least in ACCEPTANCE[language].items():
            ledgers = [r.ledger for r in decode_mtp(target, prompts, 3, temperature=temperature, stop=(), max_new_tokens=64)]
            total = sum(ledgers[1:], ledgers[0])
            assert total.mean_acceptance_length > least, (temperature, total)

    def test_sampling_by_chi_square(self, language: str):
        check_chi_square(language)


# Tokens a round at k = 3, measured less a margin.
ACCEPTANCE = {"en": {0.0: 3.1, 0.8: 2.5}, "zh": {0.0: 2.9, 0.8: 2.6}}


class FirstForced(SeededChance):
    """Draws like a seeded generator, but its first token is given."""

    def __init__(self, first: int, seed: int) -> None:
        super().__init__(torch.Generator().manual_seed(seed))
        self.first: int | None = first

    def draw(self, distribution: torch.Tensor) -> int:
        if self.first is None:
            return super().draw(distribution)
        first, self.first = self.first, None
        return first


def check_chi_square(language: str, samples: int = 1500) -> None:
    """Joint counts of the first two verified tokens against their exact probabilities.

    The line lies 15 % above the largest statistic of 100 simulated draws from the exact distribution. Its power is asserted too: a loop
    that forgot the temperature at the second draft position must cross it in at least 99 of 100.
    """
    target, top_p = Target.load(language), 0.9
    prompt = held_out_prompts(language)["test"][0]
    head, first = prompt[:-1], prompt[-1]
    exact, wrong = (joint_of_two(target, prompt, temperatures, top_p) for temperatures in ((0.8, 0.8), (0.8, 1.0)))
    counts = torch.zeros(exact.numel(), dtype=torch.float64)
    for start in range(0, samples, 250):
        chances = [FirstForced(first, 10_000 + start + row) for row in range(250)]
        for result in decode_mtp(
            target, [head] * 250, 2, temperature=0.8, top_p=top_p, stop=(), max_new_tokens=4, generators=chances
        ):
            counts[result.tokens[1] * exact.shape[1] + result.tokens[2]] += 1
    cells = (exact.flatten() * samples >= 5).nonzero().flatten()

    def statistic(observed: torch.Tensor) -> torch.Tensor:
        """Chi-square of (…, cells) counts, everything rare in one cell."""
        expected = exact.flatten()[cells] * samples
        rest, rest_expected = samples - observed[..., cells].sum(-1), samples - expected.sum()
        return ((observed[..., cells] - expected) ** 2 / expected).sum(-1) + (rest - rest_expected) ** 2 / rest_expected

    def simulate(p: torch.Tensor, times: int) -> torch.Tensor:
        generator = torch.Generator().manual_seed(1)
        drawn = torch.multinomial(p.flatten().expand(times, -1), samples, replacement=True, generator=generator)
        return statistic(
            torch.zeros(times, p.numel(), dtype=torch.float64).scatter_add_(
                1, drawn, torch.ones_like(drawn, dtype=torch.float64)
            )
        )

    line = 1.15 * simulate(exact, 100).max()
    assert (simulate(wrong, 100) > line).double().mean() >= 0.99
    assert counts[exact.flatten() == 0].sum() == 0
    assert statistic(counts) < line


def joint_of_two(target: Target, prompt: list[int], temperatures: tuple[float, float], top_p: float) -> torch.Tensor:
    """Exact joint probabilities (V, V) of the next two tokens, each at its own temperature."""
    model = target.engine.model

    def following(texts: list[list[int]], temperature: float) -> torch.Tensor:
        return warp(model.logits(model.hidden(torch.tensor(texts)))[:, -1].double(), temperature, None, top_p)

    first = following([prompt], temperatures[0])[0]
    joint = torch.zeros(len(first), len(first), dtype=torch.float64)
    support = first.nonzero().flatten().tolist()
    joint[support] = first[support, None] * following([[*prompt, token] for token in support], temperatures[1])
    return joint


# --- the rest -----------------------------------------------------------------------------------------------------------


def test_same_seed_same_text_and_rows_do_not_depend_on_their_batch():
    target = tiny_target(spread=0.4)
    settings = {"temperature": 0.9, "stop": (), "max_new_tokens": 15}
    together = decode_mtp(target, [[1, 2], [3, 4, 5]], 3, seed=7, **settings)
    alone = decode_mtp(target, [[3, 4, 5]], 3, seed=8, **settings)
    assert together[1].tokens == alone[0].tokens
    assert decode_mtp(target, [[1, 2]], 3, seed=7, **settings)[0].tokens == together[0].tokens
    assert decode_mtp(target, [[1, 2]], 3, seed=9, **settings)[0].tokens != together[0].tokens


def test_temperatures_of_a_batch_are_their_rows_own():
    target = tiny_target(spread=0.4)
    greedy = decode_plain(target, [[1, 2]], stop=(), max_new_tokens=12)[0].tokens
    mixed = decode_mtp(target, [[1, 2], [1, 2]], 3, temperature=[0.0, 1.5], stop=(), max_new_tokens=12)
    assert mixed[0].tokens == greedy != mixed[1].tokens


def test_ledger_and_times_add_up():
    result = decode_mtp(tiny_target(), [[1, 2, 3]], 3, stop=(), max_new_tokens=30)[0]
    assert result.ledger.rounds == len(result.rounds)
    assert result.ledger.emitted + 1 == len(result.tokens) == 30
    assert result.ledger.drafted == sum(record.drafted for record in result.rounds) > 0
    assert 0 < result.draft_seconds and 0 < result.verify_seconds
    assert result.draft_seconds + result.verify_seconds <= result.seconds


def test_no_candidate_is_drafted_beyond_the_limit():
    for limit in range(1, 8):
        result = decode_mtp(tiny_target(), [[1, 2, 3]], 4, stop=(), max_new_tokens=limit)[0]
        assert all(record.drafted <= 4 for record in result.rounds)
        assert result.ledger.truncated == 0 and len(result.tokens) == limit


def test_prompt_lookup_copies_what_followed_the_longest_match():
    drafter = PromptLookup(longest=3)

    class Row:
        tokens = [[1, 2, 3, 9, 7, 2, 3, 8, 1, 2, 3]]

    drafter.start(Row)
    assert drafter.propose(Row, [3]).candidates == [[9, 7, 2]]
    Row.tokens[0] += [5, 2, 3]
    assert drafter.propose(Row, [2]).candidates == [[5, 2]]
    Row.tokens[0] += [11]
    assert drafter.propose(Row, [2]).candidates == [[]]


def test_ngram_table_counts_and_backs_off(tmp_path):
    stream = [1, 2, 3, 1, 2, 4, 1, 2, 3, 5, 2, 4, 5, 2, 4, 1, 2, 3]
    table = NGramTable.count(stream, 100)
    assert table._continue([1, 2], 1) == [3] and table._continue([5, 2], 1) == [4]
    assert table._continue([9, 9], 1) == [2]
    table.save(tmp_path / "ngram.table")
    assert NGramTable.load(tmp_path / "ngram.table").table == table.table
    with pytest.raises(ValueError, match="empty context"):
        NGramTable({(1,): 2})


@pytest.mark.parametrize("language", SHIPPED_LANGUAGES)
def test_streamed_pieces_are_the_text(language: str):
    """Also where a character is made of several tokens."""
    target = Target.load(language)
    prompt = held_out_prompts(language)["test"][0]
    pieces: list[str] = []
    result = decode_mtp(target, [prompt], 3, max_new_tokens=60, on_text=lambda row, piece: pieces.append(piece))[0]
    assert len(pieces) > 5
    # The end may hold back a character that is not complete.
    assert result.text.rstrip("\ufffd") == "".join(pieces)


def test_lookups_and_text_prompts_work_on_a_shipped_model():
    target = Target.load("en")
    plain = decode_plain(target, ["And it came to pass"], max_new_tokens=20)[0]
    for other in (decode_mtp, decode_prompt_lookup, decode_ngram):
        assert other(target, ["And it came to pass"], 2, max_new_tokens=20)[0].text == plain.text
    assert plain.text == target.text(plain.tokens) and len(plain.text) > 20


@pytest.mark.parametrize(
    "settings, named",
    [
        ({"k": 0}, "k must"),
        ({"k": True}, "k must"),
        ({"max_new_tokens": 0}, "max_new_tokens"),
        ({"max_new_tokens": 95}, "max_new_tokens=95"),
        ({"temperature": -0.1}, "temperature"),
        ({"temperature": float("nan")}, "temperature"),
        ({"temperature": [0.5, 0.5]}, "temperature"),
        ({"prompts": []}, "prompts"),
        ({"prompts": [[]]}, "prompt"),
        ({"prompts": [[13]]}, "13"),
        ({"prompts": [[True]]}, "True"),
        ({"prompts": ["text"]}, "no tokenizer"),
        ({"temperature": 0.5, "top_p": 0.0}, "top_p"),
    ],
)
def test_bad_settings_are_named(settings: dict[str, Any], named: str):
    with pytest.raises(ValueError, match=named):
        decode_mtp(tiny_target(), **{"prompts": [[1, 2, 3]], "k": 2, "max_new_tokens": 5, **settings})


def test_drafter_that_answers_less_is_fine():
    target = tiny_target()
    drafter = ScriptedDrafter(
        lambda tokens, count: greedy_continuation(target.engine.model, tokens, min(count, len(tokens) % 3))
    )
    results = decode(target, [[1, 2, 3], [4, 5]], drafter, 4, max_new_tokens=20)
    assert [r.tokens for r in results] == [greedy_continuation(target.engine.model, p, 20) for p in ([1, 2, 3], [4, 5])]
    assert TINY.vocab_size > max(results[0].tokens)
