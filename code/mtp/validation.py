"""Checks of what a caller hands in. Each error is a `ValueError` that names the argument and the value."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor


def check_settings(max_proposal_len: Any, min_accept_ratio: Any) -> None:
    """Refuse a budget that is not an int above 0, and a ratio outside (0, 1]."""
    if isinstance(max_proposal_len, bool) or not isinstance(max_proposal_len, int) or max_proposal_len <= 0:
        raise ValueError(f"max_proposal_len must be an int greater than 0, not {max_proposal_len!r}")
    is_number = isinstance(min_accept_ratio, numbers.Real) and not isinstance(min_accept_ratio, bool)
    if not is_number or not 0 < min_accept_ratio <= 1:  # NaN fails every comparison
        raise ValueError(f"min_accept_ratio must be a number in (0, 1], not {min_accept_ratio!r}")


def checked_tokens(draft_tokens: Iterable[Any]) -> list[int]:
    """Return the tokens as a new list of int. NumPy integers and 0-d integer tensors are taken, bool is not."""
    if isinstance(draft_tokens, (str, bytes)) or not isinstance(draft_tokens, Iterable):
        raise ValueError(f"draft_tokens must be a sequence of integers, not {draft_tokens!r}")
    return [_token(value, position) for position, value in enumerate(draft_tokens)]


def _token(value: Any, position: int) -> int:
    is_bool = isinstance(value, bool) or "bool" in str(getattr(value, "dtype", ""))
    # 0-d tensors and arrays of floats have __index__ too, but it raises TypeError for them.
    if not is_bool and getattr(value, "ndim", 0) == 0 and hasattr(value, "__index__"):
        try:
            return value.__index__()
        except TypeError:
            pass
    raise ValueError(f"draft_tokens[{position}] must be an integer, not {value!r}")


def checked_round(draft_probs: Any, target_probs: Any, draft_tokens: Iterable[Any]) -> tuple[Tensor, Tensor, list[int]]:
    """Check the input of one round.

    Args:
        draft_probs: q, shape (positions, vocab), anything `torch.as_tensor` takes.
        target_probs: p, same shape; row i belongs to candidate i.
        draft_tokens: the candidates; at most as many as there are rows.

    Returns:
        q and p as detached floating tensors, and the tokens as a list of int.

    Raises:
        ValueError: wrong number of dimensions, shapes that differ, too few rows, a token that is no integer or outside the
            vocabulary, NaN, infinite or negative entries in a row that is used.
    """
    tokens = checked_tokens(draft_tokens)
    q, p = _matrix("draft_probs", draft_probs), _matrix("target_probs", target_probs)
    if q.shape != p.shape:
        raise ValueError(f"draft_probs and target_probs must have equal shapes, not {tuple(q.shape)} and {tuple(p.shape)}")
    rows, vocab = q.shape
    if rows < len(tokens):
        raise ValueError(f"draft_probs and target_probs have {rows} rows, too few for the {len(tokens)} tokens in draft_tokens={tokens}")
    for position, token in enumerate(tokens):
        if not 0 <= token < vocab:
            raise ValueError(f"draft_tokens[{position}]={token} is outside the vocabulary of {vocab} tokens")
    for name, table in (("draft_probs", q), ("target_probs", p)):
        _check_entries(name, table[: len(tokens)])
    return q, p, tokens


def _matrix(name: str, values: Any) -> Tensor:
    import torch

    try:
        # Python's own floats keep their precision; tensors and arrays keep their type.
        has_type = hasattr(values, "dtype")
        table = torch.as_tensor(values) if has_type else torch.as_tensor(_plain(values), dtype=torch.float64)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"{name} must be a 2-D table of probabilities, not {values!r}: {error}") from None
    if table.is_complex():
        raise ValueError(f"{name} must hold real numbers, not {table.dtype}")
    if table.ndim != 2:
        raise ValueError(f"{name} must have 2 dimensions (positions, vocab), not {table.ndim} (shape {tuple(table.shape)})")
    table = table.detach()
    return table if table.is_floating_point() else table.to(torch.float64)


def _plain(values: Any) -> Any:
    """A list of tensors or arrays is not taken by `torch.as_tensor` unless its rows are plain."""
    if isinstance(values, (list, tuple)):
        return [row.tolist() if hasattr(row, "tolist") else row for row in values]
    return values


def _check_entries(name: str, table: Tensor) -> None:
    import torch

    bad = ~torch.isfinite(table) | (table < 0)
    if bad.any():
        row, token = (int(index) for index in bad.nonzero()[0])
        raise ValueError(f"{name}[{row}, {token}] must be a finite probability of at least 0, not {table[row, token].item()!r}")
