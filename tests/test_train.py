"""Training: labels, plan, optimiser, resumption, corpora and their errors."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from model_checks import check_depth_one_loss, greedy_continuation
from mtp import data, train
from mtp.checkpoint import load_checkpoint
from mtp.data import Corpus, load_corpus
from mtp.decoding import Target, decode_mtp
from mtp.model import ModelConfig, MTPLanguageModel
from mtp.train import (
    TEMPERATURES,
    Texts,
    Training,
    TrainingPlan,
    batch_of,
    drafting_loss,
    joint_loss,
    orthogonalise,
    own_texts,
    target_and_draft,
)
from tiny import TINY, random_tokens, tiny_model

OWN = {"own_batches": 2, "own_rows": 4, "beginning": 4}
PLAN = TrainingPlan(steps=40, own_steps=20, **OWN, batch=4, length=16, warm_up=4)


def pattern(length: int = 4000) -> torch.Tensor:
    """A text with something to learn: a fixed cycle with a few random tokens in it."""
    cycle = torch.tensor([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]).repeat(length // 11 + 1)[:length]
    generator = torch.Generator().manual_seed(0)
    noise = torch.rand(length, generator=generator) < 0.02
    return torch.where(noise, torch.randint(13, (length,), generator=generator), cycle)


def test_losses_by_hand():
    check_depth_one_loss()


def test_joint_loss_weighs_the_mean_over_depths():
    total, parts = joint_loss(tiny_model(), random_tokens(2, 9), 3, 0.3)
    assert len(parts) == 4
    assert total.item() == pytest.approx(parts[0] + 0.3 * sum(parts[1:]) / 3, abs=1e-12)


def test_drafting_loss_is_the_share_of_candidates_refused():
    """Number by number: slot i at depth d stands against p of position i + d; a candidate counts if all before it were accepted."""
    model, tokens = tiny_model(), random_tokens(1, 7)
    hidden = model.hidden(tokens[:, :-1])
    total, parts = drafting_loss(*target_and_draft(model, Texts(tokens, hidden.detach()), 2), 0.5)
    p, states = model.logits(hidden)[0], model.mtp_states(hidden, tokens[:, 1:], 2)
    accepted, refused, imitation = [], {1: [], 2: []}, []
    for slot in range(4):
        for heat in TEMPERATURES:
            survival = 1.0
            for depth, state in enumerate(states, start=1):
                wanted, drafted = p[slot + depth] / heat, model.lm_head(state[0, slot]) / heat
                pairs = zip(torch.softmax(wanted, 0).tolist(), torch.softmax(drafted, 0).tolist())
                overlap = sum(min(pair) for pair in pairs)
                survival *= overlap
                accepted.append(survival)
                refused[depth].append(1 - overlap)
        for depth, state in enumerate(states, start=1):
            log_q = torch.log_softmax(model.lm_head(state[0, slot]), 0)
            imitation.append(-(torch.softmax(p[slot + depth], 0) * log_q).sum().item())
    by_hand = 1 - sum(accepted) / len(accepted) + 0.5 * sum(imitation) / len(imitation)
    assert total.item() == pytest.approx(by_hand, abs=1e-12)
    assert parts == pytest.approx([sum(shares) / len(shares) for shares in refused.values()], abs=1e-12)


def test_module_phase_leaves_the_trunk_alone():
    training = Training(TINY, TrainingPlan(steps=2, own_steps=5, **OWN, batch=2, length=12, warm_up=1), pattern())
    for _ in range(2):
        training.step()
    before = {name: value.clone() for name, value in training.model.state_dict().items()}
    for _ in range(5):
        training.step()
    changed = {name for name, value in training.model.state_dict().items() if not torch.equal(value, before[name])}
    assert changed and all("mtp_layers" in name for name in changed)


def test_training_learns_at_every_depth():
    training = Training(TINY, PLAN, pattern())
    for _ in range(training.total):
        training.step()
    first, joint, last = training.losses[0], training.losses[PLAN.steps - 1], training.losses[-1]
    assert all(loss > 2.0 for loss in first)
    assert all(loss < 1.2 for loss in joint), joint
    before = training.losses[PLAN.steps]
    assert len(last) == PLAN.own_depth and all(now < min(then, 0.05) for now, then in zip(last, before)), (before, last)


def test_resumed_training_ends_where_an_unbroken_one_does(tmp_path: Path):
    plan = TrainingPlan(steps=5, own_steps=6, **OWN, batch=2, length=12, warm_up=2)
    whole = Training(TINY, plan, pattern())
    for _ in range(11):
        whole.step()
    for stop in (3, 6, 9):
        broken = Training(TINY, plan, pattern())
        for _ in range(stop):
            broken.step()
        broken.save(tmp_path / "training.pt")
        resumed = Training(TINY, plan, pattern())
        resumed.load(tmp_path / "training.pt")
        for _ in range(11 - stop):
            resumed.step()
        assert resumed.losses == whole.losses
        assert all(torch.equal(value, resumed.model.state_dict()[name]) for name, value in whole.model.state_dict().items())


def test_own_texts_are_the_targets():
    """Greedy batches first: what follows each beginning is what the target says."""
    training = Training(TINY, PLAN, pattern())
    texts = own_texts(training.model, training.stream, PLAN)
    assert texts.tokens.shape == (OWN["own_batches"] * OWN["own_rows"], PLAN.length + 1)
    for row in texts.tokens[: OWN["own_rows"]]:
        assert row[4:].tolist() == greedy_continuation(training.model, row[:4].tolist(), PLAN.length - 3)
    assert torch.equal(texts.hidden, training.model.hidden(texts.tokens[:, :-1]))


def test_state_of_another_plan_is_refused(tmp_path: Path):
    Training(TINY, PLAN, pattern()).save(tmp_path / "training.pt")
    with pytest.raises(ValueError, match="another plan"):
        Training(TINY, TrainingPlan(steps=41), pattern()).load(tmp_path / "training.pt")


def test_rates():
    rates = [PLAN.rate(step) for step in range(60)]
    assert rates[0] == rates[40] == pytest.approx(0.25)
    assert rates[4:20] == [1.0] * 16
    assert rates[39] == pytest.approx(2 / 40) and rates[59] == pytest.approx(2 / 20)
    with pytest.raises(ValueError, match="beyond the plan"):
        PLAN.rate(60)


def test_batches_depend_on_seed_and_step_only():
    stream = pattern()
    assert torch.equal(batch_of(stream, PLAN, 3), batch_of(stream, PLAN, 3))
    assert not torch.equal(batch_of(stream, PLAN, 3), batch_of(stream, PLAN, 4))
    assert batch_of(stream, PLAN, 0).shape == (4, 17)


@pytest.mark.parametrize("shape", [(3, 8, 20), (2, 20, 8), (1, 8, 8)])
def test_orthogonalise_brings_singular_values_near_one(shape: tuple[int, ...]):
    matrices = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    values = torch.linalg.svdvals(orthogonalise(matrices))
    assert values.max() < 1.3
    assert values.median() > 0.6


def test_initial_losses_are_near_uniform():
    model = train.initialise(MTPLanguageModel(TINY))
    _, parts = joint_loss(model, random_tokens(4, 30), 2, 0.3)
    assert all(abs(loss - math.log(TINY.vocab_size)) < 1.0 for loss in parts)


def test_split_keeps_documents_apart():
    documents = [str(number) for number in range(200)]
    corpus = Corpus.split(documents)
    assert sorted([*corpus.train, *corpus.tune, *corpus.test], key=int) == documents
    assert (len(corpus.train), len(corpus.tune), len(corpus.test)) == (190, 5, 5)


def test_chapters_are_grouped():
    lines = "Ge1:1 In the beginning\nGe1:2 And the earth\nGe2:1 Thus\n\nnoise\n1Sa1:1 Now"
    assert data._chapters(lines) == ["In the beginning\nAnd the earth", "Thus", "Now"]


@pytest.mark.parametrize("language, tool, package", [("en", "bible", "bible-kjv"), ("zh", "npm", "chinese-poetry")])
def test_a_missing_tool_says_what_to_install(language: str, tool: str, package: str, monkeypatch, tmp_path: Path, capsys):
    monkeypatch.setattr(data.shutil, "which", lambda name: None)
    with pytest.raises(RuntimeError, match=f"`{tool}` was not found.*install"):
        load_corpus(language)
    with pytest.raises(SystemExit) as stopped:
        train.main(["--language", language, "--out", str(tmp_path / "out")])
    assert stopped.value.code == 2
    assert package in capsys.readouterr().err


def test_a_failing_tool_is_reported():
    with pytest.raises(RuntimeError, match="failed:\nno such thing"):
        data._run([sys.executable, "-c", "raise SystemExit('no such thing')"])


def test_unknown_language():
    with pytest.raises(ValueError, match="'fr'"):
        load_corpus("fr")


def test_one_command_writes_a_whole_checkpoint(monkeypatch, tmp_path: Path, capsys):
    """The command end to end on a corpus of a few lines, stopped and resumed."""
    documents = [
        f"and the {word} said unto them, behold the {word} of the land" for word in ("king", "man", "son", "house") * 30
    ]
    monkeypatch.setattr(train, "load_corpus", lambda language: Corpus.split(documents))
    monkeypatch.setattr(train, "ModelConfig", train_config)
    monkeypatch.setattr(train, "TrainingPlan", small_plan)
    arguments = [
        "--language",
        "en",
        "--out",
        str(tmp_path / "out"),
        "--steps",
        "6",
        "--own-steps",
        "3",
        "--vocab-size",
        "280",
    ]
    train.main(arguments)
    first = load_checkpoint(tmp_path / "out")[0].state_dict()
    train.main(arguments)
    assert all(torch.equal(value, first[name]) for name, value in load_checkpoint(tmp_path / "out")[0].state_dict().items())
    assert "held-out losses" in capsys.readouterr().out
    target = Target.load(tmp_path / "out")
    assert target.ngram_table().table
    assert len(decode_mtp(target, ["and the king"], 2, stop=(), max_new_tokens=5)[0].tokens) == 5


def train_config(vocab_size: int) -> ModelConfig:
    return replace(TINY, vocab_size=vocab_size)


def small_plan(**changes: int) -> TrainingPlan:
    return TrainingPlan(**{**OWN, "batch": 2, "length": 16, "warm_up": 2, **changes})
