"""The workflows cannot run here; their syntax is checked against GitHub's schema, and their promises by reading."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import yaml

WORKFLOWS = sorted((Path(__file__).parents[1] / ".github" / "workflows").glob("*.yml"))


def test_the_schema_accepts_the_workflows() -> None:
    assert [path.name for path in WORKFLOWS] == ["ci.yml", "deploy.yml"]
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", *map(str, WORKFLOWS)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr


def test_ci_runs_the_test_command_on_three_systems() -> None:
    job = yaml.safe_load(WORKFLOWS[0].read_text(encoding="utf-8"))["jobs"]["test"]
    assert {"ubuntu-latest", "windows-latest", "macos-latest"} <= set(job["strategy"]["matrix"]["os"])
    assert any(step.get("run", "").startswith("make test") for step in job["steps"])


def test_deployment_names_its_own_repository() -> None:
    text = WORKFLOWS[1].read_text(encoding="utf-8")
    for name in ("BOOK_REPOSITORY", "BOOK_SOURCE_BRANCH", "BOOK_SITE_BRANCH", "BOOK_BASEURL"):
        assert name in text
