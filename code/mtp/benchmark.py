"""The clock: `python -m mtp.benchmark [--language en] [--json FILE]` times every way to decode against plain decoding.

Protocol. Prompts are held-out text; k of the lookups is chosen on other held-out prompts. Every repeat takes every prompt
through every arm before the next prompt (interleaved, the order turned each time), so what else runs on the machine hits all arms alike; a
speed-up is the median over repeats of the paired ratio to plain decoding in the same repeat. The clock runs after the first token;
the prompt is reported apart, as time to first token. Greedy outputs are compared token by token.

The prediction beside each figure is that of `mtp.call_times`, whose calls are timed between the texts of the same repeats: what the
measured speed-up lacks is the loop's own overhead.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from .call_times import CallClock, CallTimes
from .decoding import Decoded, Target, decode, decode_plain
from .lookups import PromptLookup
from .metrics import Ledger
from .mtp_drafter import MTPDrafter
from .proposal import Drafter

SAMPLING = 0.8


@dataclass
class Arm:
    """One way to decode, and what was measured of it.

    Attributes:
        draft_seconds, verify_seconds: over all rounds of all repeats.
        seconds, tokens: for each repeat, over all prompts, after the first token.
        ttft, tpot: for each prompt and repeat, in seconds.
        outputs: prompt index → tokens (the last repeat's).
    """

    drafter: str
    k: int
    temperature: float
    make: Callable[[], Drafter] | None = None
    ledger: Ledger = field(default_factory=Ledger)
    seconds: list[float] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    ttft: list[float] = field(default_factory=list)
    tpot: list[float] = field(default_factory=list)
    draft_seconds: float = 0.0
    verify_seconds: float = 0.0
    outputs: dict[int, list[int]] = field(default_factory=dict)

    def run(self, target: Target, prompt: Sequence[int], seed: int, new_tokens: int) -> Decoded:
        settings: dict[str, Any] = {"temperature": self.temperature, "seed": seed, "stop": (), "max_new_tokens": new_tokens}
        if self.make is None:
            return decode_plain(target, [prompt], **settings)[0]
        return decode(target, [prompt], self.make(), self.k, **settings)[0]

    def add(self, index: int, result: Decoded) -> None:
        self.ledger = self.ledger + result.ledger
        self.seconds[-1] += result.seconds
        self.tokens[-1] += len(result.tokens) - 1
        self.ttft.append(result.prefill_seconds)
        self.tpot.append(result.seconds / (len(result.tokens) - 1))
        self.draft_seconds += result.draft_seconds
        self.verify_seconds += result.verify_seconds
        self.outputs[index] = result.tokens

    @property
    def speeds(self) -> list[float]:
        """Tokens a second, after the first token, of each repeat."""
        return [tokens / seconds for tokens, seconds in zip(self.tokens, self.seconds)]

    def ratios(self, plain: Arm) -> list[float]:
        """Speed over that of `plain` in the same repeat."""
        return [mine / theirs for mine, theirs in zip(self.speeds, plain.speeds)]

    def speedup(self, plain: Arm) -> float:
        """Median of `ratios`."""
        return statistics.median(self.ratios(plain))

    def round_seconds(self) -> dict[str, float]:
        """Mean seconds of a round: drafting, verification, and the loop round them."""
        rounds = self.ledger.rounds
        loop = sum(self.seconds) - self.draft_seconds - self.verify_seconds
        return {"draft": self.draft_seconds / rounds, "verify": self.verify_seconds / rounds, "loop": loop / rounds}


def measure(
    target: Target,
    arms: list[Arm],
    prompts: list[list[int]],
    repeats: int,
    new_tokens: int,
    progress: bool = True,
    calls: CallClock | None = None,
) -> None:
    """Run every arm on every prompt, `repeats` times, interleaved; `calls` is asked for a sample before each text."""
    for arm in arms:
        arm.run(target, prompts[0], 0, min(new_tokens, 16))
    with tqdm(total=repeats * len(prompts) * len(arms), unit="text", disable=not progress) as bar:
        for repeat in range(repeats):
            for arm in arms:
                arm.seconds.append(0.0)
                arm.tokens.append(0)
            for index, prompt in enumerate(prompts):
                turn = (repeat + index) % len(arms)
                for arm in arms[turn:] + arms[:turn]:
                    if calls is not None:
                        calls.sample()
                    arm.add(index, arm.run(target, prompt, 1000 * repeat + index, new_tokens))
                    bar.update()


def choose_k(
    target: Target, drafter: Callable[[], Drafter], temperature: float, prompts: list[list[int]], new_tokens: int
) -> int:
    """The fastest k of 1 … 4 for a drafter, on prompts kept for that."""
    arms = [Arm("", k, temperature, drafter) for k in range(1, 5)]
    measure(target, arms, prompts, 1, new_tokens, progress=False)
    return min(arms, key=lambda arm: arm.seconds[0] / arm.tokens[0]).k


def describe(arm: Arm, plain: Arm, times: CallTimes) -> dict[str, Any]:
    """One entry of the record's `runs`."""
    speeds, ratios = arm.speeds, arm.ratios(plain)
    speculative = arm.make is not None
    tpot = sorted(arm.tpot)
    rounds = arm.ledger.rounds
    return {
        "name": f"{arm.drafter} k={arm.k} T={arm.temperature}" if speculative else f"plain T={arm.temperature}",
        "drafter": arm.drafter,
        "k": arm.k,
        "temperature": arm.temperature,
        "tokens_per_second": statistics.median(speeds),
        "tokens_per_second_spread": [min(speeds), max(speeds)],
        "throughput": statistics.median(speeds),
        "ttft_ms": 1e3 * statistics.median(arm.ttft),
        "tpot_p50_ms": 1e3 * statistics.median(tpot),
        "tpot_p99_ms": 1e3 * tpot[min(int(0.99 * len(tpot)), len(tpot) - 1)],
        "speedup": arm.speedup(plain),
        "speedup_spread": [min(ratios), max(ratios)],
        "predicted_speedup": times.predicted_speedup(arm.ledger, arm.drafter, arm.k) if speculative else 1.0,
        "tokens_per_round": arm.ledger.emitted_per_round if speculative else 1.0,
        "acceptance_rate": arm.ledger.acceptance_rate,
        "mean_acceptance_length": arm.ledger.mean_acceptance_length if speculative else 1.0,
        "survival": arm.ledger.survival,
        "conditional": arm.ledger.conditional,
        "rounds": rounds,
        "drafted": arm.ledger.drafted,
        "accepted": arm.ledger.accepted,
        "verify_cost_ms": 1e3 * arm.verify_seconds / rounds if rounds else 1e3 * times.t[1],
        "output_equal": arm.outputs == plain.outputs if arm.temperature == 0 else None,
    }


def arms_for(target: Target, temperature: float, tune: list[list[int]], new_tokens: int) -> list[Arm]:
    table = target.ngram_table()
    arms = [Arm("plain", 0, temperature)]
    arms += [Arm("mtp", k, temperature, MTPDrafter) for k in range(1, 5)]
    for name, make in (("prompt_lookup", PromptLookup), ("ngram", lambda: table)):
        arms.append(Arm(name, choose_k(target, make, temperature, tune, new_tokens), temperature, make))
    return arms


def benchmark(
    language: str, repeats: int = 5, prompts: int = 10, new_tokens: int = 100, compiled: bool = False, progress: bool = True
) -> dict[str, Any]:
    """Measure everything and return the record (see the module's docstring and `main`).

    Args:
        prompts: how many of the shipped held-out prompts to report on.
    """
    target = Target.load(language)
    if compiled:
        target.engine.compile()
    texts = held_out_prompts(language)
    tune, test = texts["tune"][:4], texts["test"][:prompts]
    runs: list[dict[str, Any]] = []
    calls: dict[str, Any] = {}
    for temperature in (0.0, SAMPLING):
        arms = arms_for(target, temperature, tune, new_tokens)
        clock = CallClock(target, temperature)
        measure(target, arms, test, repeats, new_tokens, progress, clock)
        times = clock.times()
        runs += [describe(arm, arms[0], times) for arm in arms]
        calls[str(temperature)] = {
            "t_ms": {str(count): 1e3 * value for count, value in times.t.items()},
            "draft_ms": {str(count): 1e3 * value for count, value in times.draft.items()},
        }
    return {**circumstances(target, language, compiled), "input_tokens": [len(p) for p in test], "output_tokens": new_tokens,
            "repeats": repeats, "calls": calls, "runs": runs}  # fmt: skip


def circumstances(target: Target, language: str, compiled: bool) -> dict[str, Any]:
    """What the figures depend on, in the fields a record of a real engine has."""
    config = target.engine.config
    return {
        "engine": "mtp (this book), eager PyTorch" if not compiled else "mtp (this book), torch.compile",
        "engine_version": torch.__version__,
        "python": platform.python_version(),
        "hardware": f"{_processor()}, {torch.get_num_threads()} thread(s) of {os.cpu_count()}",
        "dtype": str(target.engine.dtype).removeprefix("torch."),
        "model": f"{language}: {config.num_hidden_layers} layers of width {config.hidden_size}, vocabulary {config.vocab_size}",
        "mtp_layers_loaded": config.num_nextn_predict_layers,
        "draft_sampling": "greedy at temperature 0; drawn from the warped draft distribution above it",
        "verification_rule": "greedy match at temperature 0; speculative sampling above it",
        "acceptance_simulated": False,
        "batch": 1,
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def held_out_prompts(language: str) -> dict[str, list[list[int]]]:
    """Beginnings of held-out documents, as tokens: `"tune"` to choose settings on, `"test"` to report on."""
    from .checkpoint import SHIPPED

    return json.loads((SHIPPED / language / "prompts.json").read_text(encoding="utf-8"))


def batch_sweep(
    language: str, sizes: Sequence[int] = (1, 2, 4, 8, 16, 32), k: int = 3, repeats: int = 3, new_tokens: int = 60
) -> list[dict[str, Any]]:
    """Greedy MTP against plain decoding at several batch sizes: tokens a second of the whole batch, and the paired ratio."""
    target = Target.load(language)
    texts = held_out_prompts(language)["test"]
    found = []
    for size in sizes:
        batch = [texts[index % len(texts)] for index in range(size)]
        speeds: dict[str, list[float]] = {"plain": [], "mtp": []}
        for _ in range(repeats):
            plain = decode_plain(target, batch, stop=(), max_new_tokens=new_tokens)
            mtp = decode(target, batch, MTPDrafter(), k, stop=(), max_new_tokens=new_tokens)
            for name, results in (("plain", plain), ("mtp", mtp)):
                speeds[name].append(sum(len(r.tokens) - 1 for r in results) / max(r.seconds for r in results))
        ratios = [mine / theirs for mine, theirs in zip(speeds["mtp"], speeds["plain"])]
        found.append(
            {
                "batch": size,
                "k": k,
                "plain_tokens_per_second": statistics.median(speeds["plain"]),
                "mtp_tokens_per_second": statistics.median(speeds["mtp"]),
                "speedup": statistics.median(ratios),
            }
        )
    return found


def table(record: dict[str, Any]) -> str:
    """The record's runs as text."""
    head = f"{'drafter':14} {'k':>1} {'T':>3} {'tok/s':>7} {'speed-up':>8} {'spread':>11} {'predicted':>9} {'tok/round':>9}  survival"
    lines = [f"{record['model']}; {record['hardware']}; {record['dtype']}; {record['repeats']} repeats", head]
    for run in record["runs"]:
        low, high = run["speedup_spread"]
        survival = " ".join(f"{value:.2f}" for value in run["survival"])
        equal = {True: "  output equal", False: "  OUTPUT DIFFERS", None: ""}[run["output_equal"]]
        lines.append(
            f"{run['drafter']:14} {run['k']:1} {run['temperature']:3} {run['tokens_per_second']:7.0f} {run['speedup']:8.2f} "
            f"{low:5.2f}-{high:4.2f} {run['predicted_speedup']:9.2f} {run['tokens_per_round']:9.2f}  {survival}{equal}"
        )
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m mtp.benchmark", description="Time MTP and lookups against plain decoding.")
    parser.add_argument("--language", choices=["en", "zh"], default="en")
    parser.add_argument("--json", type=Path, help="also write the record to this file")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--prompts", type=int, default=10)
    parser.add_argument("--new-tokens", type=int, default=100)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--compile", action="store_true", help="torch.compile for all arms alike")
    options = parser.parse_args(arguments)
    for name in ("repeats", "prompts", "threads"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} must be at least 1")
    if options.new_tokens < 2:
        parser.error("--new-tokens must be at least 2")
    torch.set_num_threads(options.threads)
    record = benchmark(options.language, options.repeats, options.prompts, options.new_tokens, options.compile)
    print(table(record))
    if options.json:
        options.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
