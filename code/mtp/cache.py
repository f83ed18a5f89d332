"""A preallocated KV cache whose rollback moves a length.

What the two caches of a sequence hold. The text so far has n tokens t_0 … t_{n-1}; the newest, t_{n-1}, came out of the last
round and no model has read it yet. The last round accepted a of its k candidates (0 ≤ a ≤ k), so a + 1 tokens are new.

| moment | trunk cache | draft cache |
|---|---|---|
| after prefill of m prompt tokens, n = m + 1 | positions 0 … m-1 = n-2 | nothing (or the slots of the earlier chunks) |
| after drafting | 0 … n-2, unchanged | slots 0 … n-2, then k-1 slots of this chain's own outputs, which are rolled back at once |
| after verification of k + 1 positions | 0 … n+k-1 | slots 0 … n-2 |
| after committing a + 1 tokens, n' = n + a + 1 | 0 … n'-2 | slots 0 … n-2 = n'-a-3 |

So at the end of a round the trunk cache holds n' - 1 positions, all of committed tokens, and the draft cache is a + 1 slots behind
it: those slots need the trunk's states of the tokens just accepted, which the session keeps (`pending`) until the next draft
step reads all a + 1 of them in one call. Nothing that depends on a rejected token is inside either length: for a = 0 one state is
pending, for a = k there are k + 1. Slots of a chain's own outputs (depth 2 and deeper) are never kept, not even when their
candidate was accepted: the trunk's state is better than the module's guess at it.
"""

from __future__ import annotations

import torch
from torch import Tensor


class KVCache:
    """Keys and values of `layers` layers for a batch of `rows` sequences, each with its own length.

    Entries at or beyond a row's length are stale: masked, and overwritten by the next write.

    Args:
        layers, rows, heads, capacity, head_dim: sizes; capacity is in positions.
    """

    def __init__(self, layers: int, rows: int, heads: int, capacity: int, head_dim: int, dtype: torch.dtype) -> None:
        # Keys and values side by side, so that one copy writes both.
        self.store = torch.zeros(layers, 2, rows, heads, capacity, head_dim, dtype=dtype)
        self.lengths = [0] * rows
        self.capacity = capacity
        self._both = self.store.unbind(1)
        self._flat = self.store[:, 0].flatten(1, 2).mT, self.store[:, 1].flatten(1, 2)
        self._written_as = self.store.permute(0, 2, 4, 1, 3, 5)

    def rollback(self, lengths: list[int]) -> None:
        """Forget what lies beyond `lengths`, one a row. Moves lengths only: no entry is erased or copied.

        Raises:
            ValueError: a length is negative or beyond the row's present one; no length is changed.
        """
        if len(lengths) != len(self.lengths):
            raise ValueError(f"lengths={lengths!r} must have one entry for each of the {len(self.lengths)} rows")
        for row, (wanted, present) in enumerate(zip(lengths, self.lengths)):
            if not 0 <= wanted <= present:
                raise ValueError(f"lengths[{row}]={wanted!r} must lie between 0 and the present length {present}")
        self.lengths = list(lengths)

    def reserve(self, count: int) -> Reservation:
        """Make room for `count` more positions in every row and advance the lengths; write them layer by layer.

        Raises:
            ValueError: a row would outgrow the capacity; no length is changed.
        """
        if max(self.lengths) + count > self.capacity:
            raise ValueError(f"count={count!r} more positions do not fit: {max(self.lengths)} of {self.capacity} are in use")
        reservation = Reservation(self, count)
        self.lengths = [length + count for length in self.lengths]
        return reservation

    def entries(self, row: int) -> Tensor:
        """The valid part of one row, (layers, 2, heads, length, head_dim)."""
        return self.store[:, :, row, :, : self.lengths[row]]


class Reservation:
    """Where one forward call writes, and what its queries may see; worked out once for all layers.

    Attributes:
        start: first new position when all rows agree on it, else None.
        positions: (rows, count) new positions, when the rows differ, else None.
        mask: added to the scores, (count, end) or (rows, 1, count, end); None when every entry may be seen.
    """

    def __init__(self, cache: KVCache, count: int) -> None:
        self.rows, self.count = len(cache.lengths), count
        self.end = max(cache.lengths) + count
        # Views of all layers at once: a slice costs as much as a small product.
        if self.end - count == min(cache.lengths):
            self.start, self.positions = cache.lengths[0], None
            self._targets = cache._written_as.narrow(2, self.start, count).unbind(0)
            self.mask = _causal(count, self.start, cache.store.dtype) if count > 1 else None
        else:
            self.start = None
            self.positions = torch.tensor(cache.lengths)[:, None] + torch.arange(count)
            self._targets = cache._written_as.unbind(0)
            self._places = torch.arange(self.rows)[:, None].expand_as(self.positions), self.positions
            hidden = torch.arange(self.end) > self.positions[..., None]
            mask = torch.zeros(hidden.shape, dtype=cache.store.dtype).masked_fill_(hidden, float("-inf"))
            self.mask = mask[:, None]
        if self.mask is None:
            self._keys, self._values = cache._flat[0].narrow(3, 0, self.end).unbind(0), cache._flat[1].narrow(2, 0, self.end).unbind(0)
        else:
            self._keys, self._values = (entries.narrow(3, 0, self.end).unbind(0) for entries in cache._both)

    def write(self, layer: int, keys_values: Tensor) -> tuple[Tensor, Tensor]:
        """Write (rows, count, 2, heads, head_dim) into `layer`.

        Returns:
            The layer's keys and values, new ones included: each (rows, heads, end, head_dim); where every entry may be seen,
            that is for one query a row, ready for a batched product, (rows · heads, head_dim, end) and (rows · heads, end, head_dim).
        """
        if self.positions is None:
            self._targets[layer].copy_(keys_values)
        else:
            self._targets[layer][self._places] = keys_values
        return self._keys[layer], self._values[layer]


def _causal(count: int, start: int, dtype: torch.dtype) -> Tensor:
    """(count, start + count): new position i sees entries 0 … start + i."""
    return torch.full((count, start + count), float("-inf"), dtype=dtype).triu_(start + 1)
