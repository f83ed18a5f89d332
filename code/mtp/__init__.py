"""Native Multi-Token Prediction in small, exact pieces: what the cells of the book import.

Names are loaded when they are first used, so that `import mtp` does not import torch.
"""

from __future__ import annotations

import importlib
from importlib.metadata import PackageNotFoundError, version
from typing import Any

# Public name → module that defines it.
_EXPORTS = {
    "BlockVerification": "verification",
    "GreedyMatch": "verification",
    "Ledger": "metrics",
    "MTPDrafter": "mtp_drafter",
    "MultiTokenDecoderSim": "simulator",
    "RoundOutcome": "verification",
    "SpeculativeSampling": "verification",
    "Target": "decoding",
    "TargetSampleMatch": "verification",
    "ThresholdAcceptance": "verification",
    "TypicalAcceptance": "verification",
    "check": "exercise",
    "check_end_of_round": "exercise_cache",
    "check_one_hot": "exercise_lossless",
    "check_residual": "exercise_lossless",
    "decode_mtp": "decoding",
    "decode_ngram": "decoding",
    "decode_plain": "decoding",
    "decode_prompt_lookup": "decoding",
    "get_language": "language",
    "set_language": "language",
    "trace_round": "trace",
    "warp": "warping",
}

__all__ = sorted(_EXPORTS)

try:
    __version__ = version("mtp-book")
except PackageNotFoundError:  # the source folder on the path, not installed
    __version__ = "0+uninstalled"


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_EXPORTS[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_EXPORTS})
