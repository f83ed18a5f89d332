"""Importing the package is quick and brings no torch; names are found where they are promised."""

from __future__ import annotations

import subprocess
import sys

import mtp
import pytest


def test_torch_is_not_imported_until_it_is_needed() -> None:
    code = "import sys, mtp, mtp.exercise, mtp.metrics, mtp.trace, mtp.figures, mtp.notebook; mtp.check, mtp.Ledger; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_every_promised_name_is_there() -> None:
    assert all(hasattr(mtp, name) for name in mtp.__all__)
    assert set(mtp.__all__) <= set(dir(mtp))
    assert mtp.__version__


def test_an_unknown_name_is_named() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        mtp.no_such_name  # noqa: B018
