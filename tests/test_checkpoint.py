"""Checkpoints: strict loading, round trip, and what is shipped."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from model_checks import check_missing_mtp_weights_fail, check_mtp_needs_mtp_layers
from mtp.benchmark import held_out_prompts
from mtp.checkpoint import SHIPPED, load_checkpoint, load_weights, save_checkpoint, train_tokenizer
from mtp.decoding import Target, decode_mtp
from mtp.model import MTPLanguageModel
from safetensors.torch import load_file, save_file
from tiny import TINY, random_tokens, tiny_model

NAME = "model.mtp_layers.0.hidden_layernorm.weight"


def weights() -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in tiny_model().state_dict().items()}


def test_missing_mtp_weights_fail():
    check_missing_mtp_weights_fail()


def test_mtp_asked_of_a_checkpoint_without_it_fails():
    check_mtp_needs_mtp_layers()


def remove(found: dict[str, torch.Tensor]) -> None:
    del found[NAME]


def add(found: dict[str, torch.Tensor]) -> None:
    found["model.mtp_layers.1.hidden_layernorm.weight"] = torch.ones(16)


def reshape(found: dict[str, torch.Tensor]) -> None:
    found[NAME] = torch.ones(1)


def poison(found: dict[str, torch.Tensor]) -> None:
    found[NAME][3] = float("nan")


def overflow(found: dict[str, torch.Tensor]) -> None:
    found[NAME][3] = float("inf")


@pytest.mark.parametrize("harm", [remove, add, reshape, poison, overflow], ids=lambda harm: harm.__name__)
def test_harmed_weights_are_named_and_nothing_is_loaded(harm):
    found = weights()
    harm(found)
    model = MTPLanguageModel(TINY).double()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    with pytest.raises(ValueError, match=r"mtp_layers\.[01]\.hidden_layernorm\.weight"):
        load_weights(model, found)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tokenizer = train_tokenizer(["to be or not to be"], 300)
    save_checkpoint(tmp_path / "ck", tiny_model(dtype=torch.float32), tokenizer)
    return tmp_path / "ck"


def test_round_trip(folder: Path):
    model, tokenizer = load_checkpoint(folder)
    original = tiny_model(dtype=torch.float32)
    assert all(torch.equal(value, original.state_dict()[name].half().float()) for name, value in model.state_dict().items())
    assert tokenizer.decode(tokenizer.encode("not to be").ids) == "not to be"
    assert model.hidden(random_tokens(1, 4)).shape == (1, 4, 16)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_missing_file_is_named(folder: Path, name: str):
    (folder / name).unlink()
    with pytest.raises(ValueError, match=name.replace(".", r"\.")):
        load_checkpoint(folder)


def test_truncated_weights_are_an_error(folder: Path):
    content = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(content[:-10])
    with pytest.raises(ValueError, match="model.safetensors"):
        load_checkpoint(folder)


def test_config_without_a_size_is_an_error(folder: Path):
    settings = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    del settings["num_nextn_predict_layers"]
    (folder / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    with pytest.raises(ValueError, match="num_nextn_predict_layers"):
        load_checkpoint(folder)


def test_no_such_source():
    with pytest.raises(ValueError, match="'no-such-folder'"):
        load_checkpoint("no-such-folder")


SHIPPED_LANGUAGES = sorted(path.name for path in SHIPPED.iterdir() if path.is_dir()) if SHIPPED.is_dir() else []


def test_english_is_shipped():
    assert "en" in SHIPPED_LANGUAGES


@pytest.mark.parametrize("language", SHIPPED_LANGUAGES)
class TestShipped:
    def test_size(self, language: str):
        total = sum(path.stat().st_size for path in (SHIPPED / language).iterdir())
        assert total <= 5_000_000

    def test_layout_is_mimos(self, language: str):
        settings = json.loads((SHIPPED / language / "config.json").read_text(encoding="utf-8"))
        assert settings["architectures"] == ["MiMoForCausalLM"] and settings["model_type"] == "mimo"
        assert settings["num_nextn_predict_layers"] == 1 and settings["tie_word_embeddings"] is False
        names = load_file(SHIPPED / language / "model.safetensors")
        assert all(value.dtype == torch.float16 for value in names.values())
        assert {"model.mtp_layers.0.input_proj.weight", "lm_head.weight", "model.layers.23.self_attn.q_proj.bias"} <= set(names)

    def test_loads_and_its_poisoned_copy_does_not(self, language: str, tmp_path: Path):
        load_checkpoint(language)
        shutil.copytree(SHIPPED / language, tmp_path / "copy")
        found = load_file(tmp_path / "copy" / "model.safetensors")
        found["model.mtp_layers.0.input_proj.weight"][0, 0] = float("nan")
        save_file(found, tmp_path / "copy" / "model.safetensors")
        with pytest.raises(ValueError, match="model.mtp_layers.0.input_proj.weight"):
            load_checkpoint(tmp_path / "copy")

    def test_card_says_where_it_comes_from(self, language: str):
        card = (SHIPPED / language / "README.md").read_text(encoding="utf-8")
        for needed in ("license", "python -m mtp.train", {"en": "bible-kjv-text", "zh": "chinese-poetry"}[language]):
            assert needed in card


@pytest.mark.parametrize("language", ["en", "zh"])
def test_an_engine_finds_no_other_weights_in_the_folder(language: str) -> None:
    """Engines load every file that ends like weights."""
    folder = SHIPPED / language
    found = [path.name for ending in ("safetensors", "bin", "pt", "pth") for path in folder.rglob(f"*.{ending}")]
    assert found == ["model.safetensors"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_record_of_a_serving_engine_agrees_with_this_package(language: str) -> None:
    prompts = held_out_prompts(language)["test"][:8]
    records = json.loads((SHIPPED / language / "served.json").read_text(encoding="utf-8"))
    assert [record["k"] for record in records] == [0, 1, 3]
    target = Target.load(language)
    for record in records:
        assert record["tokens_equal"] == record["tokens"] == 480 and record["prompts"] == len(prompts)
        if record["k"]:
            own = [decode_mtp(target, [prompt], k=record["k"], stop=(), max_new_tokens=60)[0].rounds for prompt in prompts]
            # Engines also draft at the end of a text, where this package does not; rounds are the same.
            assert record["rounds"] == record["own_rounds"] == sum(map(len, own))
