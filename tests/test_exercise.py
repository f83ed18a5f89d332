"""Skeleton, checks and solution hang together: as shipped it reports its gaps, the reference passes, wrong solutions are caught."""

from __future__ import annotations

import pytest
from data.wrong_solutions import RIGHT, WRONG, Wrong, build
from mtp.checking import ExerciseFailed
from mtp.exercise import MECHANISMS, check
from mtp.simulator import MultiTokenDecoderSim
from skeletons import class_cell, reference_source, tree, with_gaps, without_wording

NAME = "MultiTokenDecoderSim"
KEYS = [mechanism.key for mechanism in MECHANISMS]


def page(root, language: str, name: str):
    return root / "chapters" / language / f"{name}.md"


def defined(source: str) -> type:
    namespace: dict[str, type] = {}
    exec(compile(source, "<page>", "exec"), namespace)
    return namespace[NAME]


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_skeleton_is_the_reference_with_its_gaps_cut_out(root, language: str) -> None:
    skeleton = class_cell(page(root, language, "exercise"), NAME)
    assert tree(without_wording(skeleton), NAME) == tree(with_gaps(reference_source()), NAME)


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_solution_on_the_page_is_the_reference(root, language: str) -> None:
    solution = class_cell(page(root, language, "exercise_solution"), NAME)
    assert tree(solution, NAME) == tree(reference_source(), NAME)
    assert check(defined(solution), language).passed


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_skeleton_reports_three_todos_and_nothing_wrong(root, language: str) -> None:
    report = check(defined(class_cell(page(root, language, "exercise"), NAME)), language)
    assert report.todos == ["TODO 1", "TODO 2", "TODO 3"]
    assert set(report.results.values()) == {"todo"} and not report.passed


def test_the_reference_passes_in_every_mechanism() -> None:
    report = check(MultiTokenDecoderSim, "en")
    assert report.results == dict.fromkeys(KEYS, "passed")
    assert report.passed


def test_there_are_enough_wrong_solutions_and_every_mechanism_has_some() -> None:
    assert len({wrong.name for wrong in WRONG}) == len(WRONG) >= 25
    assert {wrong.mechanism for wrong in WRONG} == set(KEYS)


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.name)
def test_a_wrong_solution_is_reported_by_the_mechanism_it_breaks(wrong: Wrong) -> None:
    report = check(wrong.build(), "en")
    assert report.results[wrong.mechanism] == "failed", str(report)
    failure = next(outcome.failure for outcome in report.outcomes if outcome.mechanism.key == wrong.mechanism)
    assert failure.input and failure.got and failure.hint["zh"] and failure.hint["en"]


@pytest.mark.parametrize("wrong", [wrong for wrong in WRONG if wrong.mechanism in KEYS[:4]], ids=lambda wrong: wrong.name)
def test_a_wrong_gap_is_not_blamed_on_the_other_gaps(wrong: Wrong) -> None:
    results = check(wrong.build(), "en").results
    gaps = {"proposal_budget": 1, "acceptance_threshold": 2, "first_rejection": 3, "no_crossing": 3}
    blamed = {gaps[key] for key in gaps if results[key] == "failed"}
    assert blamed == {gaps[wrong.mechanism]}


@pytest.mark.parametrize("name", RIGHT)
def test_a_solution_written_differently_passes(name: str) -> None:
    report = check(build(RIGHT[name]), "en")
    assert report.passed, str(report)


def test_hints_do_not_give_the_solution_away() -> None:
    from mtp.exercise import HINTS

    for hint in HINTS.values():
        for text in hint.values():
            assert "[:" not in text and ">=" not in text and "_accept_token(" not in text


class Raises(MultiTokenDecoderSim):
    def _accept_token(self, draft_prob, target_prob):
        return self.no_such_thing * target_prob


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_learners_own_exception_is_shown_with_its_line(language: str) -> None:
    text = str(check(Raises, language))
    assert "AttributeError" in text and "no_such_thing" in text
    assert "return self.no_such_thing * target_prob" in text, "the learner's line is missing"
    assert "checking.py" not in text, "our own frames are not the learner's business"
    assert "no_such_thing" in check(Raises, language)._repr_html_()


def test_an_unnamed_not_implemented_error_is_a_failure_and_not_a_todo() -> None:
    learner = build("def propose(self, draft_tokens): raise NotImplementedError('later')")
    assert check(learner, "en").results["proposal_budget"] == "failed"


def test_strict_raises_with_the_report_and_is_silent_when_all_is_right() -> None:
    with pytest.raises(ExerciseFailed, match="Proposal budget"):
        check(WRONG[0].build(), "en", strict=True)
    assert check(MultiTokenDecoderSim, strict=True).passed


def test_the_report_speaks_the_pages_language(monkeypatch: pytest.MonkeyPatch) -> None:
    from mtp import language

    monkeypatch.setattr(language, "_chosen", None)
    language.set_language("zh")
    assert "候选预算" in str(check(MultiTokenDecoderSim))
    assert "Proposal budget" in str(check(MultiTokenDecoderSim, "en"))


@pytest.mark.parametrize("bad", ["de", "", "ZH", 3])
def test_an_unknown_language_is_named(bad: object) -> None:
    with pytest.raises(ValueError, match="language"):
        check(MultiTokenDecoderSim, bad)  # type: ignore[arg-type]


def test_an_instance_in_place_of_the_class_is_named() -> None:
    with pytest.raises(ValueError, match="cls"):
        check(MultiTokenDecoderSim())  # type: ignore[arg-type]


def test_html_escapes_what_the_learner_wrote() -> None:
    learner = build("def propose(self, draft_tokens): return '<script>alert(1)</script>'")
    assert "<script>" not in check(learner, "en")._repr_html_()
