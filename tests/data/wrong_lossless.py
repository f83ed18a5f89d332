"""Wrong and right solutions of the exercises on lossless verification: source by the mechanism that must catch it."""

_R = "def solution(p, q):\n    "
_O = "def solution(token, p, u):\n    "
_GUARD = "if p == q: raise ValueError('no residual')\n    "
_REST = "[0.0 if i == token else x / (1 - p[token]) for i, x in enumerate(p)]"

WRONG_RESIDUAL = [
    ("support", _R + _GUARD + "return list(p)"),
    ("support", _R + _GUARD + "r = [max(b - a, 0) for a, b in zip(p, q)]; return [x / sum(r) for x in r]"),
    ("support", _R + _GUARD + "r = [abs(a - b) for a, b in zip(p, q)]; return [x / sum(r) for x in r]"),
    ("support", _R + _GUARD + "return [a - b for a, b in zip(p, q)]"),
    ("support", _R + _GUARD + "return [0.375, 0.0, 0.625]"),
    ("mass", _R + _GUARD + "return [max(a - b, 0) for a, b in zip(p, q)]"),
    ("mass", _R + _GUARD + "r = [max(a - b, 0) for a, b in zip(p, q)]; return [x / max(r) for x in r]"),
    ("proportion", _R + _GUARD + "r = [a if a > b else 0 for a, b in zip(p, q)]; return [x / sum(r) for x in r]"),
    ("proportion", _R + _GUARD + "r = [1 if a > b else 0 for a, b in zip(p, q)]; return [x / sum(r) for x in r]"),
    ("no_mass", _R + "r = [max(a - b, 0) for a, b in zip(p, q)]; return [x / (sum(r) or 1) for x in r]"),
    ("no_mass", _R + "r = [max(a - b, 0) for a, b in zip(p, q)]; return [x / sum(r) for x in r]"),
    ("unchanged", _R + _GUARD + "p[:] = [max(a - b, 0) for a, b in zip(p, q)]; return [x / sum(p) for x in p]"),
]
RIGHT_RESIDUAL = [
    _R + _GUARD + "r = [max(a - b, 0) for a, b in zip(p, q)]; return [x / sum(r) for x in r]",
    _R + _GUARD + "m = sum(min(a, b) for a, b in zip(p, q)); return [(a - min(a, b)) / (1 - m) for a, b in zip(p, q)]",
    _R + _GUARD + "import torch; r = (torch.tensor(p) - torch.tensor(q)).clamp(min=0).double(); return (r / r.sum()).tolist()",
]
WRONG_ONE_HOT = [
    ("acceptance", _O + f"return (True, None) if u > p[token] else (False, {_REST})"),
    ("acceptance", _O + f"return (True, None) if p[token] > 0 else (False, {_REST})"),
    ("acceptance", _O + f"return (True, None) if p[token] == max(p) else (False, {_REST})"),
    ("acceptance", _O + f"return (True, None) if p[token] >= 0.5 else (False, {_REST})"),
    ("acceptance", _O + f"return (True, None) if u < p[token] ** 2 else (False, {_REST})"),
    ("zero", _O + f"return (True, None) if u <= p[token] else (False, {_REST})"),
    ("one_hot_residual", _O + "return (True, None) if u < p[token] else (False, list(p))"),
    ("one_hot_residual", _O + "return (True, None) if u < p[token] else (False, [0.0 if i == token else x for i, x in enumerate(p)])"),
    ("exact", _O + "return (True, None) if u < p[token] else (False, [1 / len(p)] * len(p))"),
    ("exact", _O + "return (True, None) if u < p[token] else (False, [float(i == p.index(max(p))) for i in range(len(p))])"),
    ("unchanged", _O + "if u < p[token]: return True, None\n    p[token] = 0.0; s = sum(p); return False, [x / s for x in p]"),
]
RIGHT_ONE_HOT = [
    _O + f"return (True, None) if u < p[token] else (False, {_REST})",
    _O + "if p[token] > u: return True, None\n    r = list(p); r[token] = 0.0; return False, [x / sum(r) for x in r]",
]
