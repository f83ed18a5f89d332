"""Live figures as readers use them: by mouse, finger and keys, by link, on a phone, and where nothing comes alive."""

from __future__ import annotations

import math
import random
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import serve
from live_vectors import RULES, one_round
from mtp.cost_model import best_k, speedup
from mtp.exact import distance, emitted_distribution, target_distribution
from mtp.live import full_rows, last_row, speedup_explorer
from mtp.simulator import MultiTokenDecoderSim
from mtp.trace import trace_round
from mtp.trace_rules import trace_rule
from pages import HAN, settle, visit
from playwright.sync_api import expect
from test_site_accessible import RULES as AXE_RULES
from test_site_accessible import RUN, node_modules  # noqa: F401

LANGUAGES = ("zh", "en")
FIGURES = [("stepper", "verification_state"), ("sampling", "lossless"), ("explorer", "explorer")]
SURVIVAL, DRAFT, VERIFY = [0.9, 0.75, 0.6, 0.45, 0.3, 0.2, 0.1, 0.05], 0.1, 0.03
MEASURED = [(1, 1.5, "first run"), (8, 0.9, "second run")]
# The distributions of the page on lossless verification.
P = torch.tensor([0.1, 0.2, 0.3, 0.4], dtype=torch.float64)
Q = torch.tensor([0.4, 0.3, 0.2, 0.1], dtype=torch.float64)
ARTICLE = re.compile(r"<article.*</article>", re.DOTALL)
WHY = {
    "zh": {"first": "首次拒绝", "teaching": "教学规则到此为止", "bonus": "奖励 token", "correction": "修正 token", "likely": "位置 3 的候选单看也能通过", "zero": "不可能是从 q 里抽出来的"},
    "en": {"first": "the first rejection", "teaching": "adds no token", "bonus": "bonus token", "correction": "correction token", "likely": "position 3 would pass on its own", "zero": "cannot have been drawn from q"},
}


@pytest.fixture(scope="session")
def live_site(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The built site, and in it a page that holds the explorer alone."""
    top = tmp_path_factory.mktemp("live") / "site"
    shutil.copytree(site, top, ignore=shutil.ignore_patterns("downloads", "notebooks", "wheels", "pagefind"))
    for language in LANGUAGES:
        drawn = speedup_explorer(SURVIVAL, DRAFT, VERIFY, MEASURED, language)._repr_html_()
        page = (top / language / "verification_state.html").read_text(encoding="utf-8")
        article = f'<article><section id="explorer"><h1>k</h1><div class="cell_output">{drawn}</div><p>k</p></section></article>'
        (top / language / "explorer.html").write_text(ARTICLE.sub(lambda match: article, page), encoding="utf-8")
    server, address = serve(top)
    yield address
    server.shutdown()


@contextmanager
def figure(browser: Any, site: str, language: str, page: str, name: str, query: str = "", **context: Any) -> Iterator[Any]:
    """The live figure of a page, alive; afterwards nothing has gone wrong and nobody else was asked for anything."""
    with visit(browser, f"{site}/{language}/{page}.html{query}", **context) as opened:
        live = opened.page.locator(f"mtp-{name}[data-ready]")
        live.wait_for()
        yield live
        assert opened.foreign == [] and opened.problems == []


class Stepper:
    """The round stepper, by what a reader sees of it."""

    def __init__(self, live: Any) -> None:
        self.live, self.page = live, live.page
        self.back, self.forward = (live.locator(".live-steps button").nth(place) for place in (1, 2))
        self.first, self.play, self.reset = (live.locator(".live-steps button").nth(place) for place in (0, 3, 4))
        self.rule, self.scenario = live.locator("select").nth(0), live.locator("select").nth(1)
        self.budget, self.ratio = live.locator("input[type=range]").nth(0), live.locator("input[type=range]").nth(1)

    def why(self) -> str:
        return self.live.locator(".live-why").inner_text()

    def texts(self) -> list[str]:
        return self.live.locator("svg text").all_text_contents()

    def count(self) -> tuple[int, int]:
        step, last = re.findall(r"\d+", self.live.locator(".live-count").inner_text())
        return int(step), int(last)

    def end(self) -> None:
        while self.forward.is_enabled():
            self.forward.click()

    def slider(self, key: str, place: int) -> Any:
        return self.live.get_by_role("slider", name=re.compile(rf"位置 {place} 的 {key}$|^{key} at position {place}$"))

    def field(self, key: str, place: int) -> Any:
        return self.live.get_by_role("spinbutton", name=re.compile(rf"位置 {place} 的(随机数)? ?{key}$|{key} at position {place}$"))

    def valid(self) -> int:
        text = next(text for text in self.texts() if text.startswith("KV"))
        return int(re.findall(r"\d+", text)[-1])


@pytest.fixture(params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> str:
    return request.param


def test_the_page_s_round_step_by_step(browser: Any, live_site: str, language: str) -> None:
    with figure(browser, live_site, language, "verification_state", "stepper") as live:
        stepper = Stepper(live)
        assert stepper.count() == (1, 5) and not stepper.back.is_enabled() and stepper.valid() == 3
        lengths = []
        for _ in range(4):
            stepper.forward.click()
            lengths.append(stepper.valid())
        assert lengths == [4, 5, 5, 5] and not stepper.forward.is_enabled()
        assert WHY[language]["teaching"] in stepper.why()
        stepper.back.click()
        assert WHY[language]["first"] in stepper.why() and "0.2" in stepper.why() and "0.3" in stepper.why()
        stepper.reset.click()
        assert stepper.count() == (1, 5)
        assert bool(re.search(f"[{HAN}]", live.inner_text())) == (language == "zh")


def test_keys_alone_step_play_and_set_a_probability(browser: Any, live_site: str, language: str) -> None:
    with figure(browser, live_site, language, "verification_state", "stepper", reduced_motion="reduce") as live:
        stepper = Stepper(live)
        stepper.forward.focus()
        stepper.page.keyboard.press("Enter")
        assert stepper.count() == (2, 5)
        slider = stepper.slider("p", 0)
        slider.focus()
        for key in ("End", "PageDown", "ArrowDown", "ArrowUp", "ArrowUp"):
            stepper.page.keyboard.press(key)
        assert slider.get_attribute("aria-valuenow") == "0.91" and stepper.field("p", 0).input_value() == "0.91"
        stepper.page.keyboard.press("Home")
        assert stepper.count() == (2, 3) and WHY[language]["first"] in stepper.why()
        # An ancestor's style makes nothing move, and playing still shows step after step.
        assert live.locator(".live-mark").evaluate("node => getComputedStyle(node).transitionProperty") == "none"
        stepper.play.focus()
        stepper.page.keyboard.press("Enter")
        expect(live.locator(".live-count")).to_contain_text("3", timeout=4000)
        expect(stepper.forward).to_be_disabled()


def test_playing_runs_to_the_end_and_pauses_on_demand(browser: Any, live_site: str) -> None:
    with figure(browser, live_site, "en", "verification_state", "stepper") as live:
        stepper = Stepper(live)
        stepper.play.click()
        expect(stepper.play).to_have_text("Pause")
        expect(live.locator(".live-count")).to_have_text("Step 2 of 5", timeout=4000)
        stepper.play.click()
        before = stepper.count()
        stepper.page.wait_for_timeout(2000)
        assert stepper.count() == before


def finger(page: Any, places: list[tuple[float, float]]) -> None:
    """Put a finger down at the first place, and draw it over the others; the page must not scroll under it."""
    before, session = page.evaluate("scrollY"), page.context.new_cdp_session(page)
    for number, (x, y) in enumerate(places):
        session.send("Input.dispatchTouchEvent", {"type": "touchMove" if number else "touchStart", "touchPoints": [{"x": x, "y": y}]})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    assert page.evaluate("scrollY") == before


@pytest.mark.parametrize("touch", [False, True])
def test_a_bar_is_dragged(browser: Any, live_site: str, language: str, touch: bool) -> None:
    with figure(browser, live_site, language, "verification_state", "stepper", has_touch=touch) as live:
        stepper = Stepper(live)
        handle = stepper.slider("p", 2)
        handle.scroll_into_view_if_needed()
        box = handle.bounding_box()
        x, low, high = box["x"] + box["width"] / 2, box["y"] + box["height"] * 0.9, box["y"] + box["height"] * 0.1
        if touch:
            finger(stepper.page, [(x, low), (x, (low + high) / 2), (x, high)])
        else:
            stepper.page.mouse.move(x, low)
            stepper.page.mouse.down()
            stepper.page.mouse.move(x, high, steps=5)
            stepper.page.mouse.up()
        assert float(stepper.field("p", 2).input_value()) == pytest.approx(0.9, abs=0.02)
        stepper.end()
        assert stepper.valid() == 6 and WHY[language]["first"] not in stepper.why()


def test_what_is_typed_decides(browser: Any, live_site: str, language: str) -> None:
    with figure(browser, live_site, language, "verification_state", "stepper") as live:
        stepper = Stepper(live)
        stepper.field("p", 2).fill("0.3")
        stepper.end()
        # 0.3 is 0.6 · 0.5 to the last bit or above it: equality accepts.
        assert stepper.valid() == 6
        field = stepper.field("p", 0)
        for nonsense in ("7", "-1", ""):
            field.fill(nonsense)
            field.blur()
            assert field.input_value() == "0.8", nonsense
        stepper.budget.focus()
        stepper.page.keyboard.press("Home")
        assert stepper.count()[1] == 3
        stepper.ratio.focus()
        stepper.page.keyboard.press("End")
        assert live.locator(".live-value").nth(1).inner_text() == "1"


def test_every_scenario_under_every_rule(browser: Any, live_site: str, language: str) -> None:
    words = WHY[language]
    ends = {
        # Steps, and valid length at the end, from three positions of text on.
        ("threshold", "all"): (6, 7, "teaching"), ("threshold", "first"): (3, 3, "teaching"),
        ("threshold", "late"): (5, 5, "teaching"), ("threshold", "zero"): (5, 5, "teaching"),
        ("greedy", "all"): (7, 7, None), ("greedy", "first"): (4, 3, None), ("greedy", "late"): (6, 5, None),
        ("sampling", "all"): (7, 7, "bonus"), ("sampling", "first"): (4, 3, "correction"), ("sampling", "late"): (6, 5, "correction"),
        ("sampling", "zero"): (1, 3, "zero"),
    }
    with figure(browser, live_site, language, "verification_state", "stepper") as live:
        stepper = Stepper(live)
        for (rule, scenario), (steps, length, word) in ends.items():
            stepper.rule.select_option(rule)
            stepper.scenario.select_option(scenario)
            # The first candidate is rejected only when chance has it so.
            if rule == "sampling" and scenario == "first":
                stepper.field("u", 0).fill("0.9")
            sentences = [stepper.why()]
            while stepper.forward.is_enabled():
                stepper.forward.click()
                sentences.append(stepper.why())
            where = (rule, scenario, sentences)
            assert stepper.count() == (steps, steps) and stepper.valid() == length, where
            assert word is None or any(words[word] in sentence for sentence in sentences), where
            likely = scenario == "late" or (rule, scenario) == ("threshold", "zero")
            assert likely == any(words["likely"] in sentence for sentence in sentences), where


def test_a_round_is_shared_by_link(browser: Any, live_site: str, language: str) -> None:
    with figure(browser, live_site, language, "verification_state", "stepper", permissions=["clipboard-read", "clipboard-write"]) as live:
        stepper = Stepper(live)
        stepper.rule.select_option("sampling")
        stepper.scenario.select_option("late")
        stepper.field("p", 1).fill("0.77")
        stepper.end()
        sentence, texts = stepper.why(), stepper.texts()
        live.get_by_role("button", name=re.compile("^(复制链接|Copy link)$")).click()
        expect(live.locator(".live-note")).not_to_be_empty()
        link = stepper.page.evaluate("navigator.clipboard.readText()")
        assert link == stepper.page.url and link.endswith("#step-through")
        stepper.page.reload()
        stepper.page.locator("mtp-stepper[data-ready]").wait_for()
        assert stepper.why() == sentence
        # The other language opens the same round at the same section.
        stepper.page.click("[data-language-link]")
        stepper.page.wait_for_url(f"**/{'en' if language == 'zh' else 'zh'}/**")
        stepper.page.locator("mtp-stepper[data-ready]").wait_for()
        assert stepper.field("p", 1).input_value() == "0.77" and stepper.page.url.endswith("#step-through")
    with figure(browser, live_site, language, "verification_state", "stepper", link.partition(".html")[2]) as live:
        stepper = Stepper(live)
        assert (stepper.why(), stepper.texts()) == (sentence, texts)
        assert live.evaluate("node => Math.abs(node.closest('section').getBoundingClientRect().top) < 200")


@pytest.mark.parametrize("query", ["?rule=none", "?rule=greedy&budget=9&r=7&p=a_b_c_d", "?rule=sampling&budget=2&r=1&p=5_0_0_0&q=1_1_1_1&u=0_0_0_0_9&step=99"])
def test_a_spoilt_link_is_put_right(browser: Any, live_site: str, query: str) -> None:
    with figure(browser, live_site, "en", "verification_state", "stepper", query) as live:
        step, last = Stepper(live).count()
        assert 1 <= step <= last


# Which numbers the sentence on a test must give, by its reason.
NUMBERS = {
    **dict.fromkeys(("at_least_threshold", "below_threshold"), ("p", "threshold")),
    **dict.fromkeys(("below_probability", "not_below_probability"), ("u", "probability")),
    "target_likes_it_as_much": ("p", "q"),
    "zero_draft_positive_target": ("p",),
}
VOCABULARY = [7, 10, 20, 30, 31]


def linked_round(rng: random.Random, rule: str) -> tuple[str, list[dict[str, Any]]]:
    """The link of a random round over the page's tokens, and its states as `mtp` has them."""
    p, q = ([rng.choice((0, 1, rng.randint(0, 1000) / 1000)) for _ in range(4)] for _ in range(2))
    if rule == "sampling":
        q = [value or 0.5 for value in q]
    u, budget, ratio = [rng.randint(0, 999) / 1000 for _ in range(5)], rng.randint(1, 4), rng.randint(1, 20) / 20
    rows_q, rows_p = full_rows([1, 2, 3, 4], q, 5, falling=False), torch.cat([full_rows([1, 2, 3, 4], p, 5, falling=True), last_row(5)])
    if rule == "threshold":
        states = trace_round(MultiTokenDecoderSim(budget, ratio), rows_q, rows_p[:-1], [1, 2, 3, 4], 3).states
    else:
        states = trace_rule(RULES[rule](ratio), rows_q, rows_p, [1, 2, 3, 4], budget, u[:-1], u[-1], 3).states
    numbers = [("r", [ratio]), ("p", p), ("q", q), ("u", u)]
    lists = "&".join(f"{key}={'_'.join(map(str, values))}" for key, values in numbers)
    return f"?rule={rule}&budget={budget}&{lists}&step=0", states


@pytest.mark.parametrize("rule", ["threshold", "greedy", "sampling"])
def test_what_the_stepper_shows_is_what_mtp_computes(browser: Any, live_site: str, rule: str) -> None:
    rng = random.Random(rule)
    with visit(browser, f"{live_site}/en/verification_state.html") as opened:
        for _ in range(8):
            link, states = linked_round(rng, rule)
            opened.page.goto(f"{live_site}/en/verification_state.html{link}")
            stepper = Stepper(opened.page.locator("mtp-stepper[data-ready]"))
            for place, state in enumerate(states):
                assert stepper.count() == (place + 1, len(states)), link
                texts = stepper.live.locator("svg").nth(1).locator("text").all_text_contents()
                written = [token for token in texts if token.isdigit()]
                emitted = [*state["accepted_tokens"], *([state["next_token"]] if "next_token" in state else [])]
                assert written == [str(VOCABULARY[token]) for token in emitted], (link, place)
                assert texts[-1].endswith(f"written to {state['kv_written']}, valid length {state['kv_length']}"), (link, place)
                shown = [float(number) for number in re.findall(r"= (\d+(?:\.\d+)?)", stepper.why())]
                for key in NUMBERS.get(state.get("reason", ""), ()):
                    assert any(math.isclose(value, state[key], abs_tol=6e-4) for value in shown), (link, place, key, shown)
                if place < len(states) - 1:
                    stepper.forward.click()


def test_the_browser_computes_every_state_that_mtp_computes(browser: Any, live_site: str) -> None:
    rng = random.Random(8)
    rounds = [one_round(rng, rule) for rule in ("threshold", "greedy", "sampling") for _ in range(170)]
    with visit(browser, f"{live_site}/en/verification_state.html") as opened:
        found = opened.page.evaluate(
            """async rounds => {
              const { trace } = await import('../assets/live/round-logic.js');
              return rounds.map(round => { try { return trace(round); } catch { return null; } });
            }""",
            [each["given"] for each in rounds],
        )
    for each, states in zip(rounds, found, strict=True):
        assert (states is None) == (each["states"] is None)
        for one, other in zip(states or [], each["states"] or [], strict=True):
            assert one.keys() == other.keys()
            for key, value in other.items():
                assert one[key] == (pytest.approx(value, abs=1e-9) if isinstance(value, float) or key == "distribution" else value), key


def reading(live: Any, place: int) -> float:
    return float(live.locator("dd").nth(place).inner_text())


def test_many_rounds_come_to_p_under_exact_rules_and_miss_it_under_others(browser: Any, live_site: str, language: str) -> None:
    with figure(browser, live_site, language, "lossless", "sampling") as live:
        run, clear = live.get_by_role("button", name=re.compile("开始|Run")), live.get_by_role("button", name=re.compile("清零|Clear"))
        live.locator("select").nth(1).select_option("20000")
        for rule in ("sampling", "match", "threshold", "typical"):
            live.locator("select").first.select_option(rule)
            limit = distance(emitted_distribution(RULES[rule](0.5), lambda prefix: P, lambda prefix: Q, k=1, n=1), target_distribution(lambda prefix: P, 1))
            assert limit == pytest.approx(0, abs=1e-9) if rule in ("sampling", "match") else limit > 0.05
            assert reading(live, 0) == 0
            run.click()
            expect(live.locator("dd").first).to_have_text(re.compile(r"^[2-9]\d{4}$"), timeout=20_000)
            live.get_by_role("button", name=re.compile("暂停|Pause")).click()
            rounds = reading(live, 0)
            assert reading(live, 2) == pytest.approx(limit, abs=6e-4), rule
            assert reading(live, 1) == pytest.approx(reading(live, 2), abs=0.02), rule
            live.page.wait_for_timeout(200)
            assert reading(live, 0) == rounds, "paused"
            assert str(int(rounds)) in live.get_by_role("status").inner_text()
        clear.click()
        assert reading(live, 0) == 0


def test_p_and_q_stay_distributions(browser: Any, live_site: str, language: str) -> None:
    with figure(browser, live_site, language, "lossless", "sampling", reduced_motion="reduce") as live:

        def row(key: str) -> list[float]:
            return [float(live.get_by_role("slider", name=re.compile(rf"{key}$|^{key} of")).nth(token).get_attribute("aria-valuenow")) for token in range(4)]

        live.get_by_role("slider", name=re.compile("p$|^p of")).nth(0).focus()
        for key in ("PageUp", "ArrowUp"):
            live.page.keyboard.press(key)
        assert row("p")[0] == 0.21 and sum(row("p")) == pytest.approx(1)
        live.get_by_role("spinbutton", name=re.compile("q$|^q of")).nth(3).fill("1")
        assert row("q") == [0, 0, 0, 1]
        live.get_by_role("button", name=re.compile("开始|Run")).press("Enter")
        # Few and large steps where motion is not wanted.
        expect(live.locator("dd").first).to_have_text("1000", timeout=4000)


def test_the_explorer_says_what_the_model_says(browser: Any, live_site: str, language: str) -> None:
    with figure(browser, live_site, language, "explorer", "explorer") as live:
        sentence, best = live.locator(".live-why"), best_k(SURVIVAL, DRAFT, VERIFY)
        assert f"k = {best}" in sentence.inner_text() and f"{speedup(SURVIVAL[:best], DRAFT, VERIFY):.3f}".rstrip("0") in sentence.inner_text()
        points = live.locator("li").all_inner_texts()
        assert len(points) == 2 and "first run" in points[0] and "1.5" in points[0] and f"{speedup(SURVIVAL[:1], DRAFT, VERIFY):.3f}" in points[0]
        assert live.locator("svg path.measured").count() == 3, "two points and the key"
        curve = live.get_by_role("img", name=re.compile("加速比|speed-up")).get_attribute("aria-label")
        for k in range(9):
            assert f"{speedup(SURVIVAL[:k], DRAFT, VERIFY):.3f}".rstrip("0").rstrip(".") in curve
        assert bool(re.search(f"[{HAN}]", live.inner_text())) == (language == "zh")


def test_the_explorer_follows_hand_and_keys(browser: Any, live_site: str, language: str) -> None:
    with figure(browser, live_site, language, "explorer", "explorer") as live:
        survival = live.locator(".live-handle")
        values = "nodes => nodes.map(node => Number(node.getAttribute('aria-valuenow')))"
        box = survival.nth(2).bounding_box()
        live.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] * 0.5)
        live.page.mouse.down()
        live.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] * 0.8)
        live.page.mouse.up()
        found = survival.evaluate_all(values)
        assert found[2] == pytest.approx(0.2, abs=0.02) and found == sorted(found, reverse=True) and found[:2] == SURVIVAL[:2]
        live.get_by_role("spinbutton").nth(7).fill("0.5")
        assert survival.evaluate_all(values)[2:] == [0.5] * 6
        k, draft, verify, rate = (live.locator("input[type=range]").nth(place) for place in range(4))
        k.focus()
        live.page.keyboard.press("Home")
        live.page.keyboard.press("ArrowRight")
        gain = f"{speedup([0.9], DRAFT, VERIFY):.3f}"
        assert live.locator(".live-why").inner_text().startswith("k = 1") and gain in live.locator(".live-why").inner_text()
        rate.focus()
        live.page.keyboard.press("Home")
        assert survival.evaluate_all(values) == [0] * 8
        assert re.search("任何 k 都不|No k is", live.locator(".live-why").inner_text())
        live.page.keyboard.press("End")
        draft.focus()
        live.page.keyboard.press("End")
        verify.focus()
        live.page.keyboard.press("Home")
        # Everything accepted at the price of a plain step each: no gain and no loss.
        assert re.search("任何 k 都不|No k is", live.locator(".live-why").inner_text())
        live.get_by_role("button", name=re.compile("重置|Reset")).click()
        assert survival.evaluate_all(values) == SURVIVAL


@pytest.mark.parametrize(("name", "page"), FIGURES)
def test_without_javascript_and_on_paper_the_drawing_is_seen(browser: Any, live_site: str, language: str, name: str, page: str) -> None:
    with visit(browser, f"{live_site}/{language}/{page}.html", java_script_enabled=False) as opened:
        assert opened.page.locator(f"mtp-{name} > .mtp-figure svg").is_visible()
        assert opened.page.locator(f"mtp-{name}").evaluate("node => node.clientHeight - node.firstElementChild.clientHeight") < 40
    with figure(browser, live_site, language, page, name) as live:
        assert not live.locator("> .mtp-figure").is_visible()
        live.page.emulate_media(media="print")
        assert live.locator("> .mtp-figure").is_visible() and not live.locator("> .live").is_visible()


@pytest.mark.parametrize(("name", "page"), FIGURES)
def test_axe_finds_nothing_in_any_state(browser: Any, live_site: str, node_modules: Any, language: str, name: str, page: str) -> None:  # noqa: F811
    for theme in ("light", "dark"):
        with figure(browser, live_site, language, page, name, color_scheme=theme, viewport={"width": 360, "height": 800}) as live:
            live.page.add_script_tag(path=node_modules / "axe-core" / "axe.min.js")
            for rule in rules_of(live):
                assert live.page.evaluate(RUN, AXE_RULES) == [], (theme, rule)
                if name == "stepper":
                    # A round at its end, and one that cannot be.
                    for scenario in ("late", "zero"):
                        live.locator("select").nth(1).select_option(scenario)
                        Stepper(live).end()
                        assert live.page.evaluate(RUN, AXE_RULES) == [], (theme, rule, scenario)


@pytest.mark.parametrize(("name", "page"), FIGURES)
def test_it_fits_the_narrowest_phone_and_nothing_jumps_when_it_comes(browser: Any, live_site: str, language: str, name: str, page: str) -> None:
    shifts = "() => new Promise(done => { let sum = 0; new PerformanceObserver(list => { for (const each of list.getEntries()) sum += each.value; }).observe({ type: 'layout-shift', buffered: true }); setTimeout(() => done(sum), 300); })"
    section = live_section(live_site, language, page, name, browser)
    for width in (320, 390, 768, 1280):
        # From the top, and from where the figure is in the window.
        for anchor in ("", f"#{section}"):
            with figure(browser, live_site, language, page, name, anchor, viewport={"width": width, "height": 800}) as live:
                settle(live.page)
                assert live.page.evaluate(shifts) < 0.02, (width, anchor)
                for rule in rules_of(live):
                    assert live.page.evaluate("document.documentElement.scrollWidth") <= width
                    out = "nodes => nodes.filter(node => node.getBoundingClientRect().right > innerWidth).length"
                    assert live.locator("*").evaluate_all(out) == 0, (width, rule)


def rules_of(live: Any) -> Iterator[str]:
    """Each rule of a figure that has a choice of rules, chosen; otherwise the figure as it is."""
    rules = live.locator("select").first if live.locator("select").count() else None
    for rule in rules.locator("option").evaluate_all("nodes => nodes.map(node => node.value)") if rules else [""]:
        if rules:
            rules.select_option(rule)
        yield rule


def live_section(site: str, language: str, page: str, name: str, browser: Any) -> str:
    with figure(browser, site, language, page, name) as live:
        return live.evaluate("node => node.closest('section[id]').id")
