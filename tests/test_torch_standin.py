"""The stand-in for torch and the recorded answers, as the browser has them, say what torch and the reference say."""

from __future__ import annotations

import importlib.util
import json
import random
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path
from typing import Any

import pytest
import torch
from book.run_here import write_package
from book.tree import Tree
from conftest import ROOT
from data.wrong_lossless import RIGHT_ONE_HOT, RIGHT_RESIDUAL, WRONG_ONE_HOT, WRONG_RESIDUAL
from data.wrong_solutions import RIGHT, WRONG, source
from mtp.exercise import check
from mtp.exercise_lossless import check_one_hot, check_residual
from mtp.simulator import MultiTokenDecoderSim

_SPEC = importlib.util.spec_from_file_location("torch_standin", ROOT / "code" / "book" / "live" / "python" / "torch.py")
standin = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(standin)

# Expressions of a torch `t`; what each gives, printed, or the error that it raises, must be the same.
CALLS = """
t.tensor(0.25); t.tensor(7); t.tensor(True); t.tensor([1, 2]); t.tensor([0.5, 1]); t.tensor([[1, 2], [3, 4.0]]); t.tensor([]); t.tensor([[]])
t.tensor([1e-9, 1.0]); t.tensor([1000.0, 0.5]); t.tensor([1e9]); t.tensor([1.0, 10.0]); t.tensor(1e-7); t.tensor([0.00001, 0.1])
t.tensor([1.5, float("nan"), float("inf")]); t.tensor([1.0, float("nan"), -float("inf")]); t.tensor([[0.1, 0.25], [0.333, 1]], dtype=t.float64)
t.tensor(0.1, dtype=t.float64); t.tensor([True, False]); t.tensor([-1, 10, 100]); t.tensor(1e300); t.zeros(2, 2, 2); t.tensor([], dtype=t.float64)
t.as_tensor([[0.1, 0.2]], dtype=t.float64); t.zeros(0, 12); t.zeros(2, 3); t.zeros((2, 3)); t.ones(2); t.zeros_like(t.tensor([1, 2])); t.arange(4)
t.as_tensor("ab"); t.as_tensor("ab", dtype=t.float64); t.as_tensor(None); t.as_tensor(None, dtype=t.float64); t.as_tensor([[1, "a"]], dtype=t.float64)
t.as_tensor([[1, None]], dtype=t.float64); t.as_tensor({"a": 1}, dtype=t.float64); t.as_tensor([[1], 2], dtype=t.float64); t.tensor([[1.0, 2], [3]])
t.as_tensor([1, [2]], dtype=t.float64); t.tensor([t.tensor(1.0), t.tensor(2.0)]); t.tensor(3).dtype; t.tensor(3.0).dtype; t.tensor([[1, 2]]).shape
t.tensor([[1, 2]]).ndim; t.tensor([[1, 2]]).dim(); t.tensor([[1, 2]]).size(1); t.tensor([[1, 2]]).numel(); len(t.tensor([1, 2])); len(t.tensor(1))
t.tensor([0.5]).is_floating_point(); t.tensor([1]).is_floating_point(); t.tensor([1]).is_complex(); t.tensor([0.5]).detach(); t.tensor([1]).clone()
t.tensor([0.1]).double(); t.tensor([0.1], dtype=t.float64).float(); t.tensor([1, 0]).bool(); t.tensor([1.7]).long(); t.tensor([1]).to(t.float64)
t.tensor([[1, 2], [3, 4]]).tolist(); t.tensor(0.5).tolist(); t.tensor([0.1]).tolist(); t.tensor(0.1).item(); t.tensor([1.0, 2]).item()
t.tensor([[1, 2], [3, 4]]).reshape(4); t.tensor([[1, 2], [3, 4]]).view(-1); t.tensor([1, 2]).unsqueeze(0); t.tensor([1, 2]).reshape(3); t.tensor([1, 2]).flatten()
t.tensor([1, 2, 3, 4, 5, 6]).reshape(2, -1); t.tensor([1, 2]).unsqueeze(-1); t.tensor([1, 2]).cpu()
t.tensor([[1.0, 2], [3, 4]])[0, 1]; t.tensor([[1.0, 2], [3, 4]])[1]; t.tensor([[1.0, 2], [3, 4]])[:1]; t.tensor([[1.0, 2], [3, 4]])[:, 1]
t.tensor([[1.0, 2], [3, 4]])[-1, -1]; t.tensor([[1.0, 2], [3, 4]])[[0, 1], [1, 0]]; t.tensor([[1.0, 2], [3, 4]])[5]; t.tensor([[1.0, 2], [3, 4]])[0, 5]
t.tensor([[1.0, 2], [3, 4]])[0, 0, 0]; t.tensor(3)[0]; t.tensor([1, 2])[1.0]; t.tensor([1, 2])["a"]; t.tensor([7, 8, 9])[1:]; t.tensor([7, 8, 9])[:0]
t.tensor([5])[::-1]; t.tensor([1, 2, 3])[t.tensor([True, False, True])]; t.tensor([1, 2, 3])[t.tensor(1)]; t.tensor([1, 2, 3])[t.tensor([2, 0])]
t.tensor([[1, 2], [3, 4]])[range(2), [1, 0]]; t.tensor([[1, 2], [3, 4]])[[1]]; list(t.tensor([7, 8])); iter(t.tensor(3)); 3 in t.tensor([1, 3]); 4 in t.tensor([1, 3])
[1, 2][t.tensor(1)]; [1, 2][t.tensor(1.0)]; [1, 2, 3][: t.tensor(2)]; range(t.tensor(3)); t.tensor([[0, 3], [4, 0]]).nonzero(); t.tensor([[0, 0]]).nonzero()
bool(t.tensor(0.0)); bool(t.tensor([1])); bool(t.tensor([1, 2])); bool(t.tensor([])); float(t.tensor(0.1)); int(t.tensor(2.7)); float(t.tensor([1.0, 2]))
f"{t.tensor(0.5):.2f}"; f"{t.tensor([1])}"; round(float(t.tensor(0.2)), 3); t.tensor(0.2) == 0.2; t.tensor(0.2, dtype=t.float64) == 0.2; t.tensor(0.25) is True
t.tensor([0.25, 0.5]) * 0.1; t.tensor(0.1) * 0.3 >= t.tensor(0.03); t.tensor(0.5) * 0.6; t.tensor(0.3) >= t.tensor(0.5) * 0.6; t.tensor(0.2) >= 0.5 * 0.5
t.tensor([1, 2, 3]) / 2; t.tensor([1, 2]) * 0.5; t.tensor(5.0) * t.tensor([1, 2]); t.tensor(0.5, dtype=t.float64) * t.tensor([1.0, 2]); t.tensor([1]) * t.tensor(0.5, dtype=t.float64)
1 - t.tensor([0.25]); 2 / t.tensor([0.0, 4.0]); t.tensor(0.0) / t.tensor(0.0); -t.tensor(1.0) / 0; 1 + t.tensor(2); 3 * t.tensor([1.5]); t.tensor(7) // 2; t.tensor(7) % 4
t.tensor(2) ** 3; -t.tensor([1, 2]); abs(t.tensor([-1, 2])); t.tensor([-0.5]).abs(); t.tensor(True) + t.tensor(True); t.tensor([1.0, 2]) - t.tensor([[1.0], [2.0]])
t.tensor([1.0, 2, 3]) + t.tensor([1.0, 2]); t.tensor([1, 2]) == t.tensor([1, 3]); t.tensor([1, 2]) != 1; t.tensor([1, 2]) < 2; t.tensor([1, 2]) <= 1; t.tensor([1.0]) > "a"
t.tensor(1) == None; ~t.tensor([True, False]); ~t.tensor([5]); ~t.tensor([0.5]); t.tensor([True, False]) | t.tensor([False, False]); t.tensor([True]) & t.tensor([False])
~t.isfinite(t.tensor([1, float("inf")])) | (t.tensor([-1.0, 2]) < 0); t.isnan(t.tensor([float("nan"), 1])); t.isfinite(t.tensor([[1.0]]))
t.tensor([1.0, 2]).sum(); t.tensor([True, True]).sum(); t.tensor([[1.0, 2], [3, 4]]).sum(-1); t.tensor([[1.0, 2], [3, 4]]).sum(0, keepdim=True); t.sum(t.tensor([1, 2]))
t.tensor([1.0]).sum(3); t.tensor([1.0, 2]).mean(); t.tensor([1, 2]).mean(); t.tensor([[0, 1]]).any(); t.tensor([0, 1]).all(); t.tensor([[1.0, 3], [5, 4]]).max(); t.tensor([2, 1]).min()
t.tensor([[1.0, 3], [5, 4]]).argmax(-1); t.tensor([1.0, 3, 3]).argmax(); t.tensor([2.0, 1]).argmin(); (t.tensor([0.1, 0.5]) - t.tensor([0.3, 0.2])).clamp(min=0)
t.tensor([0.1, 2.0]).clamp(0.2, 1); t.clamp(t.tensor([1, 5]), max=3); t.relu(t.tensor([-1.0, 2])); t.maximum(t.tensor([1.0, 5]), t.tensor(2.0)); t.minimum(t.tensor(1.0), t.tensor([0.5, 2]))
t.where(t.tensor([True, False]), t.tensor([1.0, 2]), t.tensor(0.0)); t.where(t.tensor([True, False]), t.tensor([1.0, 2]), 0.0); t.tensor([0.0, 1.0]).exp(); t.log(t.tensor([1.0, 0.0, -1.0]))
t.stack([t.tensor([1, 2]), t.tensor([3, 4])]); t.equal(t.tensor([1, 2]), t.tensor([1, 2])); t.allclose(t.tensor([1.0]), t.tensor([1.0 + 1e-7])); t.is_tensor(1); t.is_tensor(t.tensor(1))
t.inf; t.nan; t.pi; t.double; t.long; t.float; t.bool; t.any(t.tensor([0, 1])); t.all(t.tensor([0, 1])); t.abs(t.tensor([-1])); t.max(t.tensor([1, 2])); t.min(t.tensor([1, 2]))
t.argmax(t.tensor([1, 2])); t.exp(t.tensor(0.0)); t.zeros(2, dtype=t.float64); t.float64.is_floating_point; t.int64.is_floating_point
"""
EXPRESSIONS = [call.strip() for line in CALLS.strip().splitlines() for call in line.split("; ")]


def outcome(call: str, t: Any) -> tuple[str, str]:
    """What a call gives, as its type and its printed form, or the error that it raises."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = eval(call, {"t": t})
    except Exception as error:
        return type(error).__name__, str(error)
    return type(value).__name__ if not call.startswith("iter") else "iterator", repr(value)


@pytest.mark.parametrize("call", EXPRESSIONS)
def test_a_call_gives_what_torch_gives(call: str) -> None:
    assert outcome(call, standin) == outcome(call, torch)


def test_entries_are_set_as_torch_sets_them() -> None:
    def table(t: Any) -> str:
        made = t.zeros(3, 4)
        made[1, 2] = 0.1
        made[0] = t.tensor([1.0, 2, 3, 4])
        made[[1, 2], [0, 3]] = 5
        made[2, :2] = t.tensor([7.0, 8.0])
        return repr(made)

    assert table(standin) == table(torch)


def test_no_grad_is_entered_and_left() -> None:
    def product(t: Any) -> str:
        with t.no_grad():
            return repr(t.tensor([1.0, 2]) * 2)

    assert product(standin) == product(torch)
    assert torch.is_grad_enabled()


def test_what_the_stand_in_lacks_is_named() -> None:
    with pytest.raises(AttributeError, match="compile.*stand-in"):
        standin.compile


# What the worker does, in a Python without torch: the archive on the path, and each solution checked.
WORK = """
import json, sys
sys.path[:0] = sys.argv[1:2]
import torch
from mtp import answers
assert not hasattr(torch, "__version__") and hasattr(answers, "question"), "these are the real ones"
from mtp.exercise import check
from mtp.exercise_lossless import check_one_hot, check_residual
from mtp.simulator import MultiTokenDecoderSim
checks = {"class": check, "residual": check_residual, "one_hot": check_one_hot}
reports = []
for kind, name, source in json.load(sys.stdin):
    scope = {}
    try:
        exec(compile(source, "<learner>", "exec"), scope)
        reports.append([str(checks[kind](scope[name], language)) for language in ("zh", "en")])
    except Exception as error:
        reports.append(repr(error))
print(json.dumps(reports))
"""
CHECKS = {"class": check, "residual": check_residual, "one_hot": check_one_hot}


def solutions() -> list[tuple[str, str, str]]:
    """All right and wrong solutions of the tests: the check, the name of what is checked, the source."""
    given = [("class", "MultiTokenDecoderSim", source(methods)) for methods in [*(wrong.methods for wrong in WRONG), *RIGHT.values()]]
    residual = [("residual", "solution", text) for text in [*(text for _, text in WRONG_RESIDUAL), *RIGHT_RESIDUAL]]
    one_hot = [("one_hot", "solution", text) for text in [*(text for _, text in WRONG_ONE_HOT), *RIGHT_ONE_HOT]]
    return given + residual + one_hot


def checked_here(kind: str, name: str, text: str) -> list[str] | str:
    """Both reports as a notebook gives them."""
    scope: dict[str, Any] = {}
    exec(compile(text, "<learner>", "exec"), scope)
    return [str(CHECKS[kind](scope[name], language)) for language in ("zh", "en")]


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the worker unpacks."""
    folder = tmp_path_factory.mktemp("worker")
    with zipfile.ZipFile(write_package(Tree(ROOT), folder / "exercises.zip")) as packed:
        packed.extractall(folder / "unpacked")
    return folder / "unpacked"


def test_every_solution_is_reported_word_for_word_as_in_a_notebook(archive: Path) -> None:
    # The solutions of the tests are built on the reference, which the reader does not get.
    (archive / "mtp" / "simulator.py").write_bytes((ROOT / "code" / "mtp" / "simulator.py").read_bytes())
    cases = solutions()
    command = [sys.executable, "-I", "-c", WORK, str(archive)]
    done = subprocess.run(command, input=json.dumps(cases), capture_output=True, text=True, encoding="utf-8")
    (archive / "mtp" / "simulator.py").unlink()
    assert done.returncode == 0, done.stderr
    reports = json.loads(done.stdout)
    assert len(reports) == len(cases) > 80
    here, there = str(ROOT / "code" / "mtp"), str(archive / "mtp")
    for case, report in zip(cases, reports):
        expected = [text.replace(here, "mtp") for text in checked_here(*case)]
        assert [text.replace(there, "mtp") for text in report] == expected, case


def test_recorded_answers_between_and_beyond_the_recorded_ones(archive: Path) -> None:
    spec = importlib.util.spec_from_file_location("recorded_answers", archive / "mtp" / "answers.py")
    recorded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(recorded)
    rng = random.Random(6)
    for ratio in (0.25, 0.5, 0.6, 0.75, 1.0):
        replay, reference = recorded.MultiTokenDecoderSim(4, ratio), MultiTokenDecoderSim(4, ratio)
        for _ in range(300):
            q, p = rng.choice([rng.random() * 1.5, rng.randrange(33) / 32, 0.0, -0.5]), rng.random()
            assert replay._accept_token(q, p) is reference._accept_token(q, p), (ratio, q, p)
            # Recorded ones are exact to the last bit.
            exact = rng.randrange(33) / 32
            assert replay._accept_token(exact, exact * ratio) is reference._accept_token(exact, exact * ratio), (ratio, exact)
    with pytest.raises(LookupError, match="propose was called with something"):
        recorded.MultiTokenDecoderSim(4).propose([1, 2, 3, 4, 5, 6, 7, 8, 9])
