"""A small stand-in for torch, for the reader's browser, where torch does not exist. It is no torch.

It has the few names and operations that the checks of the exercises use, and what a learner is likely to write there: dense tensors of
float64, float32, int64 and bool on lists, with torch's broadcasting, type promotion, rounding, error types and printed form. No
gradients, no other types, no devices. A test runs the same calls on it and on torch.
"""

from __future__ import annotations

import itertools
import math
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any

inf, nan, pi = math.inf, math.nan, math.pi


class dtype:
    """A type of entries; `rank` orders bool, int and float for promotion, `size` orders types of one rank."""

    def __init__(self, name: str, rank: int, size: int) -> None:
        self.name, self.rank, self.size = name, rank, size
        self.is_floating_point = rank == 2

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def cast(self, value: Any) -> Any:
        """`value` as an entry of this type."""
        if not isinstance(value, (int, float)):
            raise TypeError(f"must be real number, not {type(value).__name__}")
        if self.rank == 0:
            return bool(value)
        if self.rank == 1:
            return int(value)
        return _single(float(value)) if self.size == 4 else float(value)


float64 = double = dtype("float64", 2, 8)
float32 = dtype("float32", 2, 4)
int64 = long = dtype("int64", 1, 8)
bool_ = dtype("bool", 0, 1)


def _single(value: float) -> float:
    """The nearest float32."""
    try:
        return struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def _divide(a: Any, b: Any) -> float:
    if b:
        return a / b
    return math.nan if not a or a != a else math.copysign(math.inf, a) * math.copysign(1, b)


def _count(shape: Sequence[int]) -> int:
    return math.prod(shape)


class Size(tuple):  # type: ignore[type-arg]
    """A shape."""

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"


class Tensor:
    """Entries in one flat list, row by row, and a shape."""

    def __init__(self, flat: list[Any], shape: Sequence[int], type_: dtype) -> None:
        self._flat, self.shape, self.dtype = flat, Size(shape), type_

    # What a tensor is.
    @property
    def ndim(self) -> int:
        return len(self.shape)

    def dim(self) -> int:
        return len(self.shape)

    def size(self, dim: int | None = None) -> Any:
        return self.shape if dim is None else self.shape[dim]

    def numel(self) -> int:
        return len(self._flat)

    def is_floating_point(self) -> bool:
        return self.dtype.is_floating_point

    def is_complex(self) -> bool:
        return False

    # The same entries otherwise.
    def detach(self) -> Tensor:
        return self

    def cpu(self) -> Tensor:
        return self

    def clone(self) -> Tensor:
        return Tensor(list(self._flat), self.shape, self.dtype)

    def to(self, type_: dtype) -> Tensor:
        return self if type_ is self.dtype else Tensor([type_.cast(value) for value in self._flat], self.shape, type_)

    def double(self) -> Tensor:
        return self.to(float64)

    def float(self) -> Tensor:
        return self.to(float32)

    def long(self) -> Tensor:
        return self.to(int64)

    def bool(self) -> Tensor:
        return self.to(bool_)

    def tolist(self) -> Any:
        return self.item() if not self.shape else [row.tolist() for row in self] if self.ndim > 1 else list(self._flat)

    def item(self) -> Any:
        if len(self._flat) != 1:
            raise RuntimeError(f"a Tensor with {len(self._flat)} elements cannot be converted to Scalar")
        return self._flat[0]

    def reshape(self, *shape: Any) -> Tensor:
        wanted = list(shape[0] if isinstance(shape[0], (tuple, list)) else shape)
        if -1 in wanted:
            wanted[wanted.index(-1)] = len(self._flat) // max(1, -_count(wanted))
        if _count(wanted) != len(self._flat):
            raise RuntimeError(f"shape '{wanted}' is invalid for input of size {len(self._flat)}")
        return Tensor(list(self._flat), wanted, self.dtype)

    view = reshape

    def flatten(self) -> Tensor:
        return self.reshape(-1)

    def unsqueeze(self, dim: int) -> Tensor:
        place = dim % (self.ndim + 1)
        return Tensor(self._flat, (*self.shape[:place], 1, *self.shape[place:]), self.dtype)

    # Entries and rows.
    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a 0-d tensor")
        return self.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        if not self.shape:
            raise TypeError("iteration over a 0-d tensor")
        return (self[index] for index in range(self.shape[0]))

    def _row(self, index: int, dim: int) -> Tensor:
        if not self.shape:
            raise IndexError("invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim tensor to a number")
        size = self.shape[0]
        if not -size <= index < size:
            raise IndexError(f"index {index} is out of bounds for dimension {dim} with size {size}")
        step = _count(self.shape[1:])
        start = (index % size) * step
        return Tensor(self._flat[start : start + step], self.shape[1:], self.dtype)

    def _select(self, keys: tuple[Any, ...], dim: int = 0) -> Tensor:
        if not keys:
            return self
        key, rest = keys[0], keys[1:]
        if isinstance(key, Tensor) and key.shape and key.dtype is bool_:
            key = [index for index, value in enumerate(key._flat) if value]
        elif isinstance(key, Tensor) and key.shape:
            key = key.tolist()
        if isinstance(key, slice):
            if not self.shape:
                raise IndexError("slice() cannot be applied to a 0-dim tensor.")
            if key.step is not None and key.step <= 0:
                raise ValueError("step must be greater than zero")
            rows = [self._row(index, dim)._select(rest, dim + 1) for index in range(self.shape[0])[key]]
            below = rows[0].shape if rows else Tensor([], self.shape[1:], self.dtype).shape
            return Tensor([value for row in rows for value in row._flat], (len(rows), *below), self.dtype)
        if isinstance(key, (list, range)):
            others = [each if isinstance(each, (list, range)) else [each] * len(key) for each in rest]
            rows = [self._row(int(index), dim)._select(tuple(other[place] for other in others), dim + 1) for place, index in enumerate(key)]
            return Tensor([value for row in rows for value in row._flat], (len(rows), *(rows[0].shape if rows else ())), self.dtype)
        if isinstance(key, str):
            _kind(key)
        if isinstance(key, (bool, float, type(None))) or not hasattr(key, "__index__"):
            raise IndexError(
                f"only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got {type(key).__name__})"
            )
        return self._row(key.__index__(), dim)._select(rest, dim + 1)

    def __getitem__(self, key: Any) -> Tensor:
        keys = key if isinstance(key, tuple) else (key,)
        if len(keys) > self.ndim > 0:
            raise IndexError(f"too many indices for tensor of dimension {self.ndim}")
        return self._select(keys)

    def __setitem__(self, key: Any, value: Any) -> None:
        places = Tensor(list(range(len(self._flat))), self.shape, int64)[key]
        source = _as(value)
        values = source._flat * len(places._flat) if len(source._flat) == 1 else source._flat
        if len(values) != len(places._flat):
            raise RuntimeError(f"shape mismatch: value tensor of shape {list(source.shape)} cannot be broadcast to {list(places.shape)}")
        for place, entry in zip(places._flat, values):
            self._flat[place] = self.dtype.cast(entry)

    def nonzero(self) -> Tensor:
        found = [index for index, value in zip(itertools.product(*map(range, self.shape)), self._flat) if value]
        return Tensor([place for index in found for place in index], (len(found), self.ndim), int64)

    # As a Python number.
    def __bool__(self) -> bool:
        if len(self._flat) != 1:
            kind = "no values" if not self._flat else "more than one value"
            raise RuntimeError(f"Boolean value of Tensor with {kind} is ambiguous")
        return bool(self._flat[0])

    def _number(self) -> Any:
        if len(self._flat) != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return self._flat[0]

    def __float__(self) -> float:
        return float(self._number())

    def __int__(self) -> int:
        return int(self._number())

    def __index__(self) -> int:
        if self.dtype.rank == 2 or len(self._flat) != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.item())

    def __format__(self, form: str) -> str:
        return format(self.item(), form) if not self.shape else object.__format__(self, form)

    __hash__ = object.__hash__

    def __contains__(self, value: Any) -> bool:
        return bool((self == value).any())

    # Entry by entry.
    def __add__(self, other: Any) -> Any:
        return _each(lambda a, b: a or b if isinstance(a, bool) and isinstance(b, bool) else a + b, self, other)

    def __sub__(self, other: Any) -> Any:
        return _each(lambda a, b: a - b, self, other)

    def __rsub__(self, other: Any) -> Any:
        return _each(lambda a, b: b - a, self, other)

    def __mul__(self, other: Any) -> Any:
        return _each(lambda a, b: a * b, self, other)

    def __truediv__(self, other: Any) -> Any:
        return _each(_divide, self, other, floating=True)

    def __rtruediv__(self, other: Any) -> Any:
        return _each(lambda a, b: _divide(b, a), self, other, floating=True)

    def __floordiv__(self, other: Any) -> Any:
        return _each(lambda a, b: a // b, self, other)

    def __mod__(self, other: Any) -> Any:
        return _each(lambda a, b: a % b, self, other)

    def __pow__(self, other: Any) -> Any:
        return _each(lambda a, b: a**b, self, other)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Tensor:
        return self._map(lambda value: -value)

    def __abs__(self) -> Tensor:
        return self._map(abs)

    abs = __abs__

    def __lt__(self, other: Any) -> Any:
        return _each(lambda a, b: a < b, self, other, bool_)

    def __le__(self, other: Any) -> Any:
        return _each(lambda a, b: a <= b, self, other, bool_)

    def __gt__(self, other: Any) -> Any:
        return _each(lambda a, b: a > b, self, other, bool_)

    def __ge__(self, other: Any) -> Any:
        return _each(lambda a, b: a >= b, self, other, bool_)

    def __eq__(self, other: Any) -> Any:  # type: ignore[override]
        return _each(lambda a, b: a == b, self, other, bool_)

    def __ne__(self, other: Any) -> Any:  # type: ignore[override]
        return _each(lambda a, b: a != b, self, other, bool_)

    def __and__(self, other: Any) -> Any:
        return _each(lambda a, b: a & b, self, other)

    def __or__(self, other: Any) -> Any:
        return _each(lambda a, b: a | b, self, other)

    def __invert__(self) -> Tensor:
        if self.dtype.rank == 2:
            raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
        return self._map((lambda value: not value) if self.dtype is bool_ else (lambda value: ~value))

    def _map(self, function: Callable[[Any], Any]) -> Tensor:
        return Tensor([self.dtype.cast(function(value)) for value in self._flat], self.shape, self.dtype)

    def clamp(self, min: Any = None, max: Any = None) -> Tensor:
        low = self if min is None else maximum(self, _as_like(min, self))
        return low if max is None else minimum(low, _as_like(max, self))

    def exp(self) -> Tensor:
        return self.to(self.dtype if self.is_floating_point() else float32)._map(math.exp)

    def log(self) -> Tensor:
        wide = self.to(self.dtype if self.is_floating_point() else float32)
        return wide._map(lambda value: math.log(value) if value > 0 else -math.inf if value == 0 else math.nan)

    # Over all entries, or along one dimension.
    def _reduce(self, function: Callable[[list[Any]], Any], dim: int | None, keepdim: bool, type_: dtype) -> Tensor:
        if dim is None:
            return Tensor([type_.cast(function(self._flat))], (), type_)
        if not -self.ndim <= dim < self.ndim:
            bounds = f"[{-self.ndim}, {self.ndim - 1}]"
            raise IndexError(f"Dimension out of range (expected to be in range of {bounds}, but got {dim})")
        place = dim % self.ndim
        before, size, after = _count(self.shape[:place]), self.shape[place], _count(self.shape[place + 1 :])
        lines = [[self._flat[(a * size + index) * after + b] for index in range(size)] for a in range(before) for b in range(after)]
        shape = (*self.shape[:place], *((1,) if keepdim else ()), *self.shape[place + 1 :])
        return Tensor([type_.cast(function(line)) for line in lines], shape, type_)

    def sum(self, dim: int | None = None, keepdim: bool = False) -> Tensor:
        return self._reduce(sum, dim, keepdim, self.dtype if self.dtype.rank == 2 else int64)

    def mean(self, dim: int | None = None, keepdim: bool = False) -> Tensor:
        if not self.is_floating_point():
            raise RuntimeError("mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: Long")
        return self._reduce(lambda values: sum(values) / len(values) if values else math.nan, dim, keepdim, self.dtype)

    def any(self, dim: int | None = None) -> Tensor:
        return self._reduce(any, dim, False, bool_)

    def all(self, dim: int | None = None) -> Tensor:
        return self._reduce(all, dim, False, bool_)

    def max(self) -> Tensor:
        return self._reduce(max, None, False, self.dtype)

    def min(self) -> Tensor:
        return self._reduce(min, None, False, self.dtype)

    def argmax(self, dim: int | None = None, keepdim: bool = False) -> Tensor:
        return self._reduce(lambda values: values.index(max(values)), dim, keepdim, int64)

    def argmin(self, dim: int | None = None, keepdim: bool = False) -> Tensor:
        return self._reduce(lambda values: values.index(min(values)), dim, keepdim, int64)

    def __repr__(self) -> str:
        usual = self.dtype in (float32, int64, bool_) and (self._flat or self.dtype is float32)
        empty = f", size={tuple(self.shape)}" if not self._flat and self.ndim > 1 else ""
        return f"tensor({_text(self, _form(self), 7)}{empty}{'' if usual else f', dtype={self.dtype!r}'})"


def _form(of: Tensor) -> Callable[[Any], str]:
    """How torch prints an entry: all entries of a tensor alike, four places, or as a power of ten."""
    if not of.is_floating_point():
        width = max((len(str(value)) for value in of._flat), default=0) if of.shape else 0
        return lambda value: str(value).rjust(width)
    counted = [value for value in of._flat if math.isfinite(value) and value]
    low, high = min(map(abs, counted), default=1.0), max(map(abs, counted), default=1.0)
    whole = all(value == math.ceil(value) for value in counted)
    if high > 1e8 or high / low > 1000 or (not whole and low < 1e-4):
        form = "{:.4e}".format
    else:
        form = (lambda value: f"{value:.0f}." if math.isfinite(value) else str(value)) if whole else "{:.4f}".format
    width = max((len(form(value)) for value in counted), default=0) if of.shape else 0
    return lambda value: form(value).rjust(width)


def _text(of: Tensor, form: Callable[[Any], str], indent: int) -> str:
    if not of.shape:
        return form(of._flat[0])
    if of.ndim == 1:
        return "[" + ", ".join(map(form, of._flat)) + "]"
    glue_ = "," + "\n" * (of.ndim - 1) + " " * (indent + 1)
    return "[" + glue_.join(_text(row, form, indent + 1) for row in of) + "]" if of._flat else "[]"


def _kind(value: Any) -> dtype:
    """The type that torch gives a Python number."""
    if isinstance(value, bool):
        return bool_
    if isinstance(value, int):
        return int64
    if isinstance(value, float):
        return float32
    if isinstance(value, str):
        raise TypeError("new(): invalid data type 'str'")
    raise RuntimeError(f"Could not infer dtype of {type(value).__name__}")


def _wider(a: dtype, b: dtype) -> dtype:
    return max(a, b, key=lambda each: (each.rank, each.size))


def _promoted(a: Any, b: Any) -> dtype:
    """Tensors with dimensions decide; a tensor without, then a plain number, counts only where it is of a higher rank."""
    tiers: list[list[dtype]] = [[], [], []]
    for value in (a, b):
        tiers[0 if isinstance(value, Tensor) and value.shape else 1 if isinstance(value, Tensor) else 2].append(
            value.dtype if isinstance(value, Tensor) else _kind(value)
        )
    result: dtype | None = None
    for tier in tiers:
        for type_ in tier[:1] if len(tier) < 2 else [_wider(*tier)]:
            if result is None or type_.rank > result.rank:
                result = type_
    assert result is not None
    return result


def _each(function: Callable[[Any, Any], Any], a: Any, b: Any, type_: dtype | None = None, floating: bool = False) -> Any:
    """`function` on the entries of `a` and `b`, broadcast; NotImplemented for what is no number."""
    if not isinstance(b, (Tensor, int, float)):
        return NotImplemented
    common = _promoted(a, b)
    if type_ is None and floating and common.rank < 2:
        common = float32
    left, right = _as(a), _as(b)
    shape = _broadcast(left.shape, right.shape)
    out = type_ or common
    pairs = zip(_spread(left, shape), _spread(right, shape))
    # Operands take the common type first, as torch has it: a float32 meets a plain 0.1 as a float32.
    return Tensor([out.cast(function(common.cast(x), common.cast(y))) for x, y in pairs], shape, out)


def _broadcast(a: Sequence[int], b: Sequence[int]) -> tuple[int, ...]:
    shape = []
    for place, (x, y) in enumerate(itertools.zip_longest(reversed(a), reversed(b), fillvalue=1)):
        if x != y and 1 not in (x, y):
            dim = max(len(a), len(b)) - 1 - place
            raise RuntimeError(f"The size of tensor a ({x}) must match the size of tensor b ({y}) at non-singleton dimension {dim}")
        shape.append(y if x == 1 else x)
    return tuple(reversed(shape))


def _spread(of: Tensor, shape: Sequence[int]) -> list[Any]:
    """Entries of a tensor as if it had `shape`."""
    if of.shape == tuple(shape):
        return of._flat
    if len(of._flat) == 1:
        return of._flat * _count(shape)
    sizes = (1,) * (len(shape) - of.ndim) + of.shape
    steps = [_count(sizes[place + 1 :]) if size > 1 else 0 for place, size in enumerate(sizes)]
    return [of._flat[sum(map(lambda i, s: i * s, index, steps))] for index in itertools.product(*map(range, shape))]


def _shape_of(data: Any) -> tuple[int, ...]:
    if isinstance(data, Tensor):
        return data.shape
    if isinstance(data, (list, tuple, range)):
        return (len(data), *(_shape_of(data[0]) if len(data) else ()))
    return ()


def _collect(data: Any, shape: tuple[int, ...], dim: int, flat: list[Any]) -> None:
    if not shape:
        flat.append(data.item() if isinstance(data, Tensor) else data)
        return
    if not isinstance(data, (list, tuple, range, Tensor)):
        raise TypeError("not a sequence")
    if len(data) != shape[0]:
        raise ValueError(f"expected sequence of length {shape[0]} at dim {dim} (got {len(data)})")
    for row in data:
        _collect(row, shape[1:], dim + 1, flat)


def tensor(data: Any, dtype: dtype | None = None) -> Tensor:
    """A tensor of numbers and (nested) sequences of them, or a copy of a tensor."""
    if isinstance(data, Tensor):
        return data.clone().to(dtype or data.dtype)
    if isinstance(data, str):
        _kind(data)
    shape = _shape_of(data)
    flat: list[Any] = []
    _collect(data, shape, 0, flat)
    type_ = dtype or (float32 if not flat else None)
    for value in flat if dtype is None else ():
        kind = _kind(value)
        type_ = kind if type_ is None else _wider(type_, kind)
    assert type_ is not None
    return Tensor([type_.cast(value) for value in flat], shape, type_)


def as_tensor(data: Any, dtype: dtype | None = None) -> Tensor:
    """As `tensor`, but a tensor of the right type is not copied."""
    return data.to(dtype or data.dtype) if isinstance(data, Tensor) else tensor(data, dtype)


def _as(value: Any) -> Tensor:
    # A plain float keeps its precision until the common type is known.
    return value if isinstance(value, Tensor) else Tensor([value], (), float64 if isinstance(value, float) else _kind(value))


def _as_like(value: Any, like: Tensor) -> Tensor:
    return value if isinstance(value, Tensor) else Tensor([value], (), _wider(like.dtype, _kind(value)))


def _filled(value: Any, shape: Sequence[Any], dtype: dtype) -> Tensor:
    sizes = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else tuple(shape)
    return Tensor([dtype.cast(value)] * _count(sizes), sizes, dtype)


def zeros(*shape: Any, dtype: dtype = float32) -> Tensor:
    return _filled(0, shape, dtype)


def ones(*shape: Any, dtype: dtype = float32) -> Tensor:
    return _filled(1, shape, dtype)


def zeros_like(like: Tensor) -> Tensor:
    return _filled(0, like.shape, like.dtype) if like.shape else Tensor([like.dtype.cast(0)], (), like.dtype)


def arange(*limits: int) -> Tensor:
    values = list(range(*limits))
    return Tensor(values, (len(values),), int64)


def stack(tensors: Sequence[Tensor]) -> Tensor:
    return tensor([each.tolist() for each in tensors], tensors[0].dtype)


def isfinite(of: Tensor) -> Tensor:
    return Tensor([math.isfinite(value) for value in of._flat], of.shape, bool_)


def isnan(of: Tensor) -> Tensor:
    return Tensor([value != value for value in of._flat], of.shape, bool_)


def _pick(better: Callable[[Any, Any], bool]) -> Callable[[Any, Any], Any]:
    return lambda a, b: a if a != a or better(a, b) else b


def maximum(a: Tensor, b: Tensor) -> Tensor:
    return _each(_pick(lambda x, y: x >= y), a, b)


def minimum(a: Tensor, b: Tensor) -> Tensor:
    return _each(_pick(lambda x, y: x <= y), a, b)


def where(condition: Tensor, a: Any, b: Any) -> Tensor:
    left, right = (value if isinstance(value, Tensor) else tensor(value) for value in (a, b))
    type_ = _promoted(a, b) if isinstance(a, Tensor) or isinstance(b, Tensor) else _wider(left.dtype, right.dtype)
    shape = _broadcast(condition.shape, _broadcast(left.shape, right.shape))
    rows = zip(_spread(condition, shape), _spread(left, shape), _spread(right, shape))
    return Tensor([type_.cast(x if yes else y) for yes, x, y in rows], shape, type_)


def clamp(of: Tensor, min: Any = None, max: Any = None) -> Tensor:
    return of.clamp(min, max)


def relu(of: Tensor) -> Tensor:
    return of.clamp(min=0)


argmax, exp, log = Tensor.argmax, Tensor.exp, Tensor.log


def is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor)


def equal(a: Tensor, b: Tensor) -> bool:
    return a.shape == b.shape and a._flat == b._flat


def allclose(a: Tensor, b: Tensor, rtol: float = 1e-5, atol: float = 1e-8) -> bool:
    shape = _broadcast(a.shape, b.shape)
    return all(abs(x - y) <= atol + rtol * abs(y) for x, y in zip(_spread(a, shape), _spread(b, shape)))


class no_grad:
    """There are no gradients here; the block runs as it stands."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, *error: object) -> None:
        return None


# Names that torch shares with Python's own: as globals they would hide those from the code above.
_SHARED = {
    **{"float": float32, "bool": bool_, "sum": Tensor.sum, "any": Tensor.any, "all": Tensor.all},
    **{"abs": Tensor.abs, "max": Tensor.max, "min": Tensor.min},
}


def __getattr__(name: str) -> Any:
    if name in _SHARED:
        return _SHARED[name]
    raise AttributeError(f"module 'torch' has no attribute {name!r}: this is the book's small stand-in, which has what the exercises need")
