"""Small random models for the tests of the native-MTP package."""

from __future__ import annotations

import torch
from mtp.decoding import Target
from mtp.exercise_cache import random_model
from mtp.model import ModelConfig, MTPLanguageModel

torch.set_num_threads(1)

TINY = ModelConfig(
    vocab_size=13, hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=2, max_position_embeddings=96
)


def tiny_model(
    config: ModelConfig = TINY, seed: int = 0, dtype: torch.dtype = torch.float64, spread: float = 0.7
) -> MTPLanguageModel:
    return random_model(config, seed, dtype, spread)


def tiny_target(config: ModelConfig = TINY, seed: int = 0, dtype: torch.dtype = torch.float64, spread: float = 0.7) -> Target:
    return Target(tiny_model(config, seed, dtype, spread))


def random_tokens(rows: int, length: int, seed: int = 0, vocab: int = TINY.vocab_size) -> torch.Tensor:
    return torch.randint(vocab, (rows, length), generator=torch.Generator().manual_seed(seed))
