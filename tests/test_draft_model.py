"""A separate draft model as a drafter: its cache keeps what was accepted and nothing else, and the text stays the target's."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from model_checks import PROMPTS, check_exact_distribution, close, few_target
from mtp import draft_model
from mtp.benchmark import Arm, held_out_prompts, measure
from mtp.checkpoint import SHIPPED
from mtp.data import Corpus
from mtp.decoding import Target, decode, decode_mtp, decode_plain, one_round, open_session
from mtp.draft_model import DraftModelDrafter, train_draft_model
from mtp.engine import Engine
from mtp.train import TrainingPlan, own_texts
from mtp.verification import GreedyMatch
from tiny import TINY, tiny_model, tiny_target

SMALL = replace(TINY, num_hidden_layers=1, num_nextn_predict_layers=0)


def small_engine(seed: int = 5) -> Engine:
    return Engine(tiny_model(SMALL, seed))


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_greedy_equals_plain(k: int) -> None:
    target = tiny_target()
    wanted = [result.tokens for result in decode_plain(target, PROMPTS, max_new_tokens=20)]
    for engine in (small_engine(), target.engine):
        results = decode(target, PROMPTS, DraftModelDrafter(engine), k, max_new_tokens=20)
        assert [result.tokens for result in results] == wanted
        for prompt, tokens in zip(PROMPTS, wanted):
            assert decode(target, [prompt], DraftModelDrafter(engine), k, max_new_tokens=20)[0].tokens == tokens


def test_the_target_as_its_own_draft_model_is_never_refused() -> None:
    target = tiny_target()
    result = decode(target, [[1, 2, 3]], DraftModelDrafter(target.engine), 3, temperature=0.8, stop=(), max_new_tokens=41)[0]
    assert [record.accepted for record in result.rounds] == [3] * 10


def test_exact_distribution() -> None:
    engine = Engine(tiny_model(replace(few_target().engine.config, num_nextn_predict_layers=0), 3))
    check_exact_distribution([lambda: DraftModelDrafter(engine)], count=3)


def test_its_cache_is_that_of_the_text_after_every_round() -> None:
    """Ragged batch, whatever was accepted: what is kept equals one call on the text so far."""
    target, engine, accepted = tiny_target(spread=0.4), small_engine(), set()
    drafter = DraftModelDrafter(engine)
    session = open_session(target, PROMPTS, 3, 0.0, None, None, 0, (), 40, None)
    drafter.start(session)
    for row, token in enumerate(session.sample(session.prefill(None, drafter))):
        session.emit(row, [token])
    for _ in range(10):
        records = one_round(session, drafter, 3, [GreedyMatch()] * len(PROMPTS))
        accepted |= {record.accepted for record in records if record}
        for row, tokens in enumerate(session.tokens):
            kept = min(len(tokens) - 1, drafter.cache.lengths[row])
            fresh = engine.trunk_cache(1, len(tokens))
            engine.trunk(torch.tensor([tokens]), fresh)
            assert kept >= len(tokens) - 2, "at most the last candidate and the target's own token are read again"
            close(drafter.cache.entries(row)[:, :, :, :kept], fresh.entries(0)[:, :, :, :kept])
    assert len(accepted) > 1


def test_another_vocabulary_is_refused() -> None:
    engine = Engine(tiny_model(replace(SMALL, vocab_size=12)))
    with pytest.raises(ValueError, match="vocabulary of 12, the target one of 13"):
        decode(tiny_target(), [[1]], DraftModelDrafter(engine), 2, max_new_tokens=5)


def learnt(steps: int) -> float:
    """Tokens a round, greedily, of a draft model trained for a tiny target."""
    plan = TrainingPlan(own_batches=2, own_rows=32, beginning=4, batch=8, length=24, warm_up=4, own_depth=2)
    target = tiny_target(dtype=torch.float32)
    texts = own_texts(target.engine.model, torch.arange(2000) % 13, plan)
    assert texts.tokens.shape == (64, 25)
    model = train_draft_model(target.engine.model, texts, 1, steps, plan, progress=False)
    prompts = texts.tokens[:16, :6].tolist()
    results = decode(target, prompts, DraftModelDrafter(Engine(model.eval())), 2, stop=(), max_new_tokens=16)
    return sum(len(result.tokens) - 1 for result in results) / sum(len(result.rounds) for result in results)


def test_training_makes_it_a_better_drafter() -> None:
    assert learnt(200) > learnt(2) + 0.3


def test_the_command_writes_its_record(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    def short(target: Target, arms: list[Arm], prompts: list[list[int]], *_: Any) -> None:
        measure(target, arms, prompts[:1], 1, 12, progress=False)

    monkeypatch.setattr(draft_model, "measure", short)
    monkeypatch.setattr(draft_model, "load_corpus", lambda language: Corpus.split(["and it came to pass, and he went " * 8] * 40))
    monkeypatch.setattr(draft_model, "TrainingPlan", lambda: TrainingPlan(own_batches=2, own_rows=4, batch=2, length=24, warm_up=2))
    draft_model.main(["--language", "en", "--layers", "1", "--steps", "4", "--json", str(tmp_path / "record.json")])
    record = json.loads((tmp_path / "record.json").read_text(encoding="utf-8"))
    assert [(entry["drafter"], entry["k"]) for entry in record] == 2 * [(name, k) for name in ("mtp", "draft_model") for k in range(1, 5)]
    assert all(entry["output_equal"] for entry in record[:8]) and all(entry["output_equal"] is None for entry in record[8:])
    assert all(1 <= entry["tokens_per_round"] <= entry["k"] + 1 for entry in record)
    assert capsys.readouterr().out.count("draft_model") == 8


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_record_is_of_the_shipped_checkpoint(language: str) -> None:
    """Tokens a round of the module follow from the checkpoint: a record of another one would differ."""
    record = json.loads((SHIPPED / language / "draft_model.json").read_text(encoding="utf-8"))
    assert sorted({(entry["drafter"], entry["layers"]) for entry in record}) == [("draft_model", 1), ("draft_model", 2), ("mtp", 1)]
    assert len(record) == 24 and all(entry["output_equal"] for entry in record if entry["temperature"] == 0)
    target, prompts = Target.load(language), held_out_prompts(language)["test"][:10]
    own = [decode_mtp(target, [prompt], 3, stop=(), max_new_tokens=100)[0].ledger for prompt in prompts]
    kept = next(entry for entry in record if (entry["drafter"], entry["k"], entry["temperature"]) == ("mtp", 3, 0.0))
    assert kept["tokens_per_round"] == pytest.approx(sum(own[1:], own[0]).mean_acceptance_length, abs=0.02)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_record_says_what_the_page_says(language: str) -> None:
    """A tie of module and one layer, more tokens a round from the module, and a second layer that does not pay."""
    record = json.loads((SHIPPED / language / "draft_model.json").read_text(encoding="utf-8"))
    for temperature in (0.0, 0.8):
        arms = {(entry["drafter"], entry["layers"], entry["k"]): entry for entry in record if entry["temperature"] == temperature}
        best = {source: max(arms[(*source, k)]["speedup"] for k in range(1, 5)) for source in (("mtp", 1), ("draft_model", 1), ("draft_model", 2))}
        assert best["mtp", 1] == pytest.approx(best["draft_model", 1], rel=0.03)
        assert best["draft_model", 2] < best["draft_model", 1]
        for k in range(1, 5):
            module, small = arms["mtp", 1, k], arms["draft_model", 1, k]
            assert module["tokens_per_round"] > small["tokens_per_round"] and (k == 1 or module["draft_ms"] > small["draft_ms"])


@pytest.mark.parametrize("wrong", [["--layers", "0"], ["--steps", "1"]])
def test_bad_sizes_are_named(wrong: list[str], capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit) as stopped:
        draft_model.main(wrong)
    assert stopped.value.code == 2 and f"{wrong[0]} must be at least" in capsys.readouterr().err
