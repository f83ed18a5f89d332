"""The KV cache by itself, and both caches of a decoding session against a recompute after every round."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from model_checks import check_caches_for_every_acceptance, check_caches_ragged, check_chunked_prefill, close
from mtp.cache import KVCache
from mtp.engine import Engine
from tiny import random_tokens, tiny_model


def test_caches_equal_a_recompute_for_every_acceptance():
    check_caches_for_every_acceptance()


def test_caches_equal_a_recompute_in_ragged_batches():
    check_caches_ragged()


def test_chunked_prefill_equals_single_prefill():
    check_chunked_prefill()


def test_rollback_moves_lengths_and_copies_nothing():
    cache = KVCache(2, 2, 1, 8, 4, torch.float64)
    room = cache.reserve(3)
    for layer in range(2):
        room.write(layer, torch.randn(2, 3, 2, 1, 4, dtype=torch.float64))
    before, place = cache.store.clone(), cache.store.data_ptr()
    cache.rollback([1, 2])
    assert cache.lengths == [1, 2]
    assert torch.equal(cache.store, before) and cache.store.data_ptr() == place


@pytest.mark.parametrize("lengths", [[4, 3], [-1, 3], [3], [3, 3, 3]])
def test_bad_rollback_changes_nothing(lengths: list[int]):
    cache = KVCache(1, 2, 1, 8, 4, torch.float32)
    cache.reserve(3)
    with pytest.raises(ValueError, match="lengths"):
        cache.rollback(lengths)
    assert cache.lengths == [3, 3]


def test_overflow_changes_nothing():
    cache = KVCache(1, 2, 1, 8, 4, torch.float32)
    cache.reserve(6)
    cache.rollback([1, 6])
    with pytest.raises(ValueError, match="count=3"):
        cache.reserve(3)
    assert cache.lengths == [1, 6]


def test_stale_entries_are_never_read():
    """What rollback leaves behind may be anything, NaN included."""
    model, text = tiny_model(), random_tokens(2, 8)
    engine = Engine(model)
    cache = engine.trunk_cache(2, 12)
    engine.trunk(text, cache)
    for lengths in ([3, 3], [2, 3]):
        cache.rollback(lengths)
        for row, length in enumerate(lengths):
            # A ragged call reads rows up to the longest, behind a mask: NaN would pass a mask, so only finite rubbish there.
            cache.store[:, :, row, :, length:] = float("nan") if len(set(lengths)) == 1 else 1e6
        rows = torch.stack([text[row, length : length + 2] for row, length in enumerate(lengths)])
        states = engine.trunk(rows, cache)
        for row, length in enumerate(lengths):
            close(states[row], model.hidden(text[row : row + 1, : length + 2])[0, length:])


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 4), st.lists(st.integers(0, 4), min_size=2, max_size=2)), min_size=1, max_size=6))
def test_any_history_of_calls_and_rollbacks_leaves_a_recompute(history: list[tuple[int, list[int]]]):
    """Rows read tokens, forget some of them, and read on: the valid entries are those of the text that is left."""
    engine = Engine(tiny_model())
    cache = engine.trunk_cache(2, 40)
    texts: list[list[int]] = [[], []]
    for number, (count, forgotten) in enumerate(history):
        new = random_tokens(2, count, seed=number)
        engine.trunk(new, cache)
        for row in range(2):
            texts[row] += new[row].tolist()
            texts[row] = texts[row][: max(len(texts[row]) - forgotten[row], 0)]
        cache.rollback([len(text) for text in texts])
    for row, text in enumerate(texts):
        if text:
            fresh = engine.trunk_cache(1, 40)
            engine.trunk(torch.tensor([text]), fresh)
            close(cache.entries(row), fresh.entries(0))
