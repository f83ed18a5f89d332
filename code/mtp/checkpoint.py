"""Checkpoint folders: `config.json`, `model.safetensors` (fp16) and `tokenizer.json`, read strictly."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, fields
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from .model import ModelConfig, MTPLanguageModel

END_OF_TEXT = "<|endoftext|>"
SHIPPED = Path(__file__).parent / "checkpoints"


def train_tokenizer(documents: Iterable[str], vocab_size: int) -> Tokenizer:
    """Byte-level BPE; `END_OF_TEXT` has id 0."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size, special_tokens=[END_OF_TEXT], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(documents, trainer)
    return tokenizer


def save_checkpoint(folder: Path, model: MTPLanguageModel, tokenizer: Tokenizer) -> None:
    """Write the three files; weights in fp16, under MiMo's names and with what serving engines ask of a `config.json`."""
    folder.mkdir(parents=True, exist_ok=True)
    config = {
        "architectures": ["MiMoForCausalLM"],
        "model_type": "mimo",
        **asdict(model.config),
        "num_key_value_heads": model.config.num_attention_heads,
        "head_dim": model.config.head_dim,
        "hidden_act": "silu",
        "attention_bias": True,
        "tie_word_embeddings": False,
        "use_sliding_window": False,
        "bos_token_id": 0,
        "eos_token_id": 0,
        "torch_dtype": "float16",
    }
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    weights = {name: parameter.detach().half().contiguous() for name, parameter in model.state_dict().items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    tokenizer.save(str(folder / "tokenizer.json"))


def load_checkpoint(source: str | Path, dtype: torch.dtype = torch.float32) -> tuple[MTPLanguageModel, Tokenizer]:
    """Load a shipped checkpoint by its language (`"en"`, `"zh"`) or any by its folder.

    Raises:
        ValueError: a file is missing or is not what it should be; a parameter is missing, superfluous, of another shape, or holds
            a value that is not finite. Names it.
    """
    folder = SHIPPED / source if source in ("en", "zh") else Path(source)
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        if not (folder / name).is_file():
            raise ValueError(f"source={str(source)!r}: {folder / name} is missing")
    known = {field.name for field in fields(ModelConfig)}
    settings = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    missing = known - settings.keys()
    if missing:
        raise ValueError(f"{folder / 'config.json'} lacks {sorted(missing)}")
    model = MTPLanguageModel(ModelConfig(**{name: settings[name] for name in known}))
    try:
        weights = load_file(folder / "model.safetensors")
    except SafetensorError as error:
        raise ValueError(f"{folder / 'model.safetensors'} cannot be read: {error}") from error
    load_weights(model, weights)
    return model.to(dtype).eval().requires_grad_(False), Tokenizer.from_file(str(folder / "tokenizer.json"))


def load_weights(model: MTPLanguageModel, weights: dict[str, torch.Tensor]) -> None:
    """Copy `weights` into `model`; nothing may be missing, left over, misshapen or not finite (ValueError names it)."""
    wanted = model.state_dict()
    if missing := sorted(wanted.keys() - weights.keys()):
        raise ValueError(f"the checkpoint lacks the parameter {missing[0]!r} ({len(missing)} missing)")
    if extra := sorted(weights.keys() - wanted.keys()):
        raise ValueError(f"the checkpoint has a parameter the model has no place for: {extra[0]!r} ({len(extra)} extra)")
    for name, value in weights.items():
        if value.shape != wanted[name].shape:
            raise ValueError(f"parameter {name!r} has shape {tuple(value.shape)}, not {tuple(wanted[name].shape)}")
        if not torch.isfinite(value).all():
            raise ValueError(f"parameter {name!r} holds values that are not finite")
    model.load_state_dict(weights)
