"""Corpora for training: fetched from package registries when they are needed, never committed.

English is the King James Bible of Debian's `bible-kjv-text`; its text is out of copyright. Chinese is the lyrics
(ci) of the Song dynasty in the npm package `chinese-poetry` (MIT): the old texts alone, no notes and no modern commentary.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

POETRY_PACKAGE = "chinese-poetry@2.0.1"
# One document in so many is held out: half of those to choose settings on, half to report figures on.
HELD_OUT_EVERY = 20


@dataclass(frozen=True)
class Corpus:
    """Documents of one language, split by document: a text is in one part only."""

    train: list[str]
    tune: list[str]
    test: list[str]

    @classmethod
    def split(cls, documents: Iterable[str]) -> Corpus:
        documents = list(documents)
        held_out = documents[HELD_OUT_EVERY - 1 :: HELD_OUT_EVERY]
        train = [text for index, text in enumerate(documents) if (index + 1) % HELD_OUT_EVERY]
        return cls(train, held_out[::2], held_out[1::2])


def load_corpus(language: str) -> Corpus:
    """Fetch and split the corpus of `language` (`"en"` or `"zh"`).

    Raises:
        ValueError: an unknown language.
        RuntimeError: the tool or the package that holds the corpus is missing; says what to do.
    """
    if language not in _LOADERS:
        raise ValueError(f"language must be one of {sorted(_LOADERS)}, not {language!r}")
    return Corpus.split(_LOADERS[language]())


def _run(command: list[str], cwd: str | None = None) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, encoding="utf-8", errors="replace")
    if done.returncode:
        raise RuntimeError(f"`{' '.join(command)}` failed:\n{done.stderr.strip()}")
    return done.stdout


def bible_documents() -> list[str]:
    """Chapters of the King James Bible, a verse a line."""
    bible = shutil.which("bible")
    if bible is None:
        raise RuntimeError(
            "the English corpus comes from Debian's packages `bible-kjv` and `bible-kjv-text`, and the command `bible` was not "
            "found: run `apt-get install bible-kjv` (on Debian or Ubuntu; WSL or a container will do). Only training needs it: "
            "decoding needs the shipped checkpoint alone"
        )
    return _chapters(_run([bible, "-f", "gen1:1-rev22:21"]))


def _chapters(lines: str) -> list[str]:
    """Group lines such as `Ge1:1 In the beginning …` by book and chapter."""
    chapters: dict[str, list[str]] = {}
    for line in lines.splitlines():
        match = re.match(r"(\S+?):\d+\s+(\S.*)", line)
        if match:
            chapters.setdefault(match[1], []).append(match[2].strip())
    return ["\n".join(verses) for verses in chapters.values()]


def poetry_documents() -> list[str]:
    """Song lyrics of the npm package: tune, then a line of the edition a line."""
    npm = shutil.which("npm")
    if npm is None:
        raise RuntimeError(
            "the Chinese corpus comes from the npm package `chinese-poetry`, and the command `npm` was not found: install Node.js. "
            "Only training needs it: decoding needs the shipped checkpoint alone"
        )
    with tempfile.TemporaryDirectory() as directory:
        _run([npm, "pack", "--silent", POETRY_PACKAGE], cwd=directory)
        archive = next(Path(directory).glob("*.tgz"))
        with tarfile.open(archive) as packed:
            return _read_poems(packed)


def _read_poems(packed: tarfile.TarFile) -> list[str]:
    documents = []
    for member in sorted(packed.getmembers(), key=lambda member: member.name):
        if re.fullmatch(POEM_FILES, member.name):
            content = packed.extractfile(member)
            assert content is not None  # the names are files'
            documents += [_poem(record) for record in json.loads(content.read().decode("utf-8"))]
    return [text for text in documents if text]


def _poem(record: dict[str, Any]) -> str:
    """The name of the tune, which fixes the form, then the lines."""
    lines = [line.strip() for line in record["paragraphs"] if line.strip()]
    return "\n".join([record["rhythmic"].strip(), *lines]) if lines else ""


POEM_FILES = r"package/dist/songci/ci\.song\.\d+\.json"
_LOADERS: dict[str, Callable[[], list[str]]] = {"en": bible_documents, "zh": poetry_documents}
