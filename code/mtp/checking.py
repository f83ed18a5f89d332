"""Checks of a learner's code, by mechanism: the machinery that all exercises of the book share.

A mechanism is a function `(subject, probe)`: it calls the learner's `subject` through the `probe`, which stops at the first
surprise and keeps what the learner needs to see: the input, what was expected, what came, and a hint.
"""

from __future__ import annotations

import html
import re
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .language import check_language

Text = dict[str, str]  # language → text
_HERE = __file__

_WORDS: dict[str, Text] = {
    "passed": {"zh": "通过", "en": "passed"},
    "failed": {"zh": "未通过", "en": "failed"},
    "todo": {"zh": "待完成", "en": "to do"},
    "mechanism": {"zh": "机制", "en": "Mechanism"},
    "result": {"zh": "结果", "en": "Result"},
    "input": {"zh": "输入", "en": "Input"},
    "expected": {"zh": "应得", "en": "Expected"},
    "got": {"zh": "实得", "en": "Got"},
    "raised": {"zh": "你的代码抛出了异常", "en": "Your code raised"},
    "hint": {"zh": "提示", "en": "Hint"},
    "all": {"zh": "全部通过。", "en": "All passed."},
    "gaps": {"zh": "还要填的空：{gaps}。", "en": "Gaps to fill: {gaps}."},
    "count": {"zh": "{passed} 项通过，{failed} 项未通过，{todo} 项待完成。", "en": "{passed} passed, {failed} failed, {todo} to do."},
    "changed": {"zh": "调用之后输入还是 {value}", "en": "the input is still {value} after the call"},
    "now": {"zh": "输入变成了 {value}", "en": "the input has become {value}"},
}
_MARKS = {"passed": "✓", "failed": "✗", "todo": "…"}


class ExerciseFailed(AssertionError):
    """Raised by a strict check; its text is the report."""


class _Stop(Exception):
    """Ends a mechanism at its first surprise."""

    def __init__(self, failure: Failure | None, todo: str = "") -> None:
        super().__init__()
        self.failure = failure
        self.todo = todo


@dataclass(frozen=True)
class Failure:
    """What a learner is shown: each a text, `error` the learner's own exception with its lines, or empty."""

    input: str
    expected: str
    got: str
    hint: Text
    error: str = ""


@dataclass(frozen=True)
class Mechanism:
    """One thing that an exercise asks for."""

    key: str
    title: Text
    run: Callable[[Any, Probe], None]


class Probe:
    """Calls the learner's code and compares."""

    def call(self, shown: str, call: Callable[[], Any], hint: Text, expected: Any = None) -> Any:
        """Run `call` (shown to the learner as `shown`); an exception of the learner's ends the mechanism.

        `expected` is only shown, should the call raise. An unfilled gap raises `NotImplementedError` that names its TODO.
        """
        try:
            return call()
        except NotImplementedError as error:
            gap = re.search(r"TODO\s*\d+", str(error))
            if gap:
                raise _Stop(None, " ".join(gap[0].split())) from None
            self._fail(shown, expected, error, hint)
        except Exception as error:
            self._fail(shown, expected, error, hint)

    def equal(self, shown: str, call: Callable[[], Any], expected: Any, hint: Text) -> Any:
        """Run `call` and require exactly `expected`, types included (True is not 1, a tensor is not a list)."""
        got = self.call(shown, call, hint, expected)
        self.require(_same(got, expected), shown, repr(expected), _shown(got), hint)
        return got

    def require(self, condition: bool, shown: str, expected: str, got: str, hint: Text) -> None:
        """End the mechanism with a failure unless `condition` holds."""
        if not condition:
            raise _Stop(Failure(shown, expected, got, hint))

    def unchanged(self, shown: str, before: Any, after: Any, hint: Text) -> None:
        """Require that an input is after a call what it was before."""
        if not _same(before, after):
            raise _Stop(Failure(shown, f"= {before!r}", f"→ {_shown(after)}", hint))

    def _fail(self, shown: str, expected: Any, error: Exception, hint: Text) -> None:
        expected = "" if expected is None else repr(expected)
        raise _Stop(Failure(shown, expected, f"{type(error).__name__}: {error}", hint, _learners_lines(error))) from None


def _same(got: Any, expected: Any) -> bool:
    """Equal in value and in type, all the way down."""
    if type(got) is not type(expected):
        return False
    if isinstance(expected, (list, tuple)):
        return len(got) == len(expected) and all(map(_same, got, expected))
    if isinstance(expected, dict):
        return got.keys() == expected.keys() and all(_same(got[key], value) for key, value in expected.items())
    return bool(got == expected)


def _shown(value: Any) -> str:
    text = repr(value)
    plain = isinstance(value, (bool, int, float, str, list, tuple, dict, type(None)))
    return text if plain else f"{text} ({type(value).__name__})"


def _learners_lines(error: Exception) -> str:
    """Format the exception with the frames of the learner's code, ours left out."""
    trace = traceback.TracebackException.from_exception(error)
    frames = list(trace.stack)
    ours = [index for index, frame in enumerate(frames) if frame.filename == _HERE]
    # The frame behind our last one is the mechanism's own lambda.
    trace.stack[:] = frames[(ours[-1] + 2 if ours else 0) :] or frames[-1:]
    return "".join(trace.format()).rstrip()


@dataclass(frozen=True)
class Outcome:
    """How one mechanism ended: `status` is `"passed"`, `"failed"` or `"todo"`."""

    mechanism: Mechanism
    status: str
    failure: Failure | None = None
    todo: str = ""


@dataclass(frozen=True)
class Report:
    """Result of a check; a notebook shows it as a table.

    Attributes:
        outcomes: one for each mechanism, in the exercise's order.
        language: language of the texts.
    """

    outcomes: list[Outcome]
    language: str = field(default="en")

    @property
    def passed(self) -> bool:
        """True when every mechanism passed."""
        return all(outcome.status == "passed" for outcome in self.outcomes)

    @property
    def results(self) -> dict[str, str]:
        """Mechanism → `"passed"`, `"failed"` or `"todo"`."""
        return {outcome.mechanism.key: outcome.status for outcome in self.outcomes}

    @property
    def todos(self) -> list[str]:
        """Names of the gaps that are still unfilled."""
        return sorted({outcome.todo for outcome in self.outcomes if outcome.todo})

    def _word(self, key: str, **values: Any) -> str:
        return _WORDS[key][self.language].format(**values)

    @property
    def summary(self) -> str:
        """One sentence on the whole."""
        if self.passed:
            return self._word("all")
        statuses = list(self.results.values())
        counts = {status: statuses.count(status) for status in ("passed", "failed", "todo")}
        separator = "、" if self.language == "zh" else ", "
        gaps = self._word("gaps", gaps=separator.join(self.todos)) if self.todos else ""
        return (self._word("count", **counts) + (" " if self.language == "en" else "") + gaps).strip()

    def _details(self, failure: Failure) -> list[tuple[str, str]]:
        rows = [("input", failure.input), ("expected", failure.expected), ("got", failure.got)]
        return [(self._word(key), text) for key, text in rows if text]

    def __str__(self) -> str:
        lines = []
        colon = "：" if self.language == "zh" else ": "
        for outcome in self.outcomes:
            note = f" ({outcome.todo})" if outcome.todo else ""
            lines.append(f"{_MARKS[outcome.status]} {outcome.mechanism.title[self.language]} [{self._word(outcome.status)}]{note}")
            if outcome.failure:
                lines += [f"    {name}{colon}{text}" for name, text in self._details(outcome.failure)]
                if outcome.failure.error:
                    lines += [f"    {line}" for line in outcome.failure.error.splitlines()]
                lines.append(f"    {self._word('hint')}{colon}{outcome.failure.hint[self.language]}")
        return "\n".join([*lines, self.summary])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(self._row(outcome) for outcome in self.outcomes)
        head = f"<tr><th scope='col'>{self._word('mechanism')}</th><th scope='col'>{self._word('result')}</th></tr>"
        table = f"<table class='mtp-report'><thead>{head}</thead><tbody>{rows}</tbody></table>"
        return f"<div lang='{'zh-CN' if self.language == 'zh' else 'en'}' class='mtp-report-box'>{STYLE}{table}<p>{html.escape(self.summary)}</p></div>"

    def _row(self, outcome: Outcome) -> str:
        title = html.escape(outcome.mechanism.title[self.language])
        note = f" · {html.escape(outcome.todo)}" if outcome.todo else ""
        status = f"<span class='mtp-{outcome.status}'>{_MARKS[outcome.status]} {self._word(outcome.status)}{note}</span>"
        return f"<tr><td>{title}{self._failure_html(outcome.failure)}</td><td>{status}</td></tr>"

    def _failure_html(self, failure: Failure | None) -> str:
        if failure is None:
            return ""
        details = "".join(f"<dt>{name}</dt><dd><code>{html.escape(text)}</code></dd>" for name, text in self._details(failure))
        if failure.error:
            details += f"<dt>{self._word('raised')}</dt><dd><pre>{html.escape(failure.error)}</pre></dd>"
        details += f"<dt>{self._word('hint')}</dt><dd>{html.escape(failure.hint[self.language])}</dd>"
        return f"<dl>{details}</dl>"


# A notebook needs it beside each report; the book keeps it in its style sheet. Inherits the page's colours, so it reads in light and dark, in the book and in JupyterLab.
STYLE = """<style>
.mtp-report{border-collapse:collapse;width:100%;font-size:.95em;text-align:left}
.mtp-report th,.mtp-report td{text-align:left!important;vertical-align:top;padding:.45em .7em;border-bottom:1px solid color-mix(in srgb,currentColor 20%,transparent);background:none;color:inherit}
.mtp-report td:last-child{white-space:nowrap}
.mtp-report dl{margin:.5em 0 0;display:grid;grid-template-columns:auto minmax(0,1fr);gap:.25em .8em}
.mtp-report dt{font-weight:600;opacity:.8}
.mtp-report dd{margin:0;overflow-wrap:anywhere}
.mtp-report pre{margin:0;white-space:pre-wrap;overflow-wrap:anywhere;background:none;padding:0;color:inherit}
.mtp-report code{background:none;padding:0;color:inherit;white-space:pre-wrap}
.mtp-passed,.mtp-failed,.mtp-todo{font-weight:600}
.mtp-passed{color:var(--mtp-accept,#0b7a5b)}
.mtp-failed{color:var(--mtp-reject,#c2410c)}
.mtp-todo{color:var(--mtp-muted,inherit)}
</style>"""


def run(mechanisms: Sequence[Mechanism], subject: Any, language: str | None = None, strict: bool = False) -> Report:
    """Run every mechanism on the learner's `subject`.

    Args:
        language: `"zh"` or `"en"`; None takes the page's language.
        strict: raise instead of reporting.

    Raises:
        ValueError: for another language.
        ExerciseFailed: with `strict`, unless all mechanisms passed; its text is the report.
    """
    report = Report([_run_one(mechanism, subject) for mechanism in mechanisms], check_language(language))
    if strict and not report.passed:
        raise ExerciseFailed(str(report))
    return report


def _run_one(mechanism: Mechanism, subject: Any) -> Outcome:
    try:
        mechanism.run(subject, Probe())
    except _Stop as stop:
        return Outcome(mechanism, "failed" if stop.failure else "todo", stop.failure, stop.todo)
    return Outcome(mechanism, "passed")
