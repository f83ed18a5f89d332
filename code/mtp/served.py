"""Does a serving engine read our checkpoint? `python -m mtp.served --language en`, in an environment that has vLLM.

vLLM knows the architecture as `MiMoForCausalLM`, but leaves the class of its configuration to the release's own code, so a plain one is
registered here. Compared with this package on the same held-out prompts, greedily in float32: the tokens, and how many rounds MTP took.

Every `*.safetensors` of a folder is taken for weights by engines; nothing else in a checkpoint's folder may end like that.
"""

from __future__ import annotations

import argparse
import json
import os
from importlib.metadata import version
from pathlib import Path
from typing import Any

SETTINGS = {"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "VLLM_ENABLE_V1_MULTIPROCESSING": "0", "VLLM_CPU_KVCACHE_SPACE": "1"}


def register() -> None:
    """Tell Transformers what a configuration of type `mimo` is: Qwen2's, and a count of MTP layers."""
    from transformers import AutoConfig, Qwen2Config

    class MiMoConfig(Qwen2Config):  # type: ignore[misc]
        model_type = "mimo"

        def __init__(self, *arguments: Any, num_nextn_predict_layers: int = 0, **settings: Any) -> None:
            self.num_nextn_predict_layers = num_nextn_predict_layers
            super().__init__(*arguments, **settings)

    AutoConfig.register("mimo", MiMoConfig, exist_ok=True)


def served(folder: Path, prompts: list[list[int]], k: int, new_tokens: int) -> tuple[list[list[int]], dict[str, Any]]:
    """The engine's greedy tokens for each prompt, and its counters of speculative decoding; k = 0 decodes plainly."""
    from vllm import LLM, SamplingParams

    speculative = {"speculative_config": {"method": "mtp", "num_speculative_tokens": k}} if k else {}
    engine = LLM(model=str(folder), skip_tokenizer_init=True, dtype="float32", enforce_eager=True, max_model_len=256, disable_log_stats=False, **speculative)
    settings = SamplingParams(temperature=0, max_tokens=new_tokens, detokenize=False, ignore_eos=True)
    outputs = engine.generate([{"prompt_token_ids": prompt} for prompt in prompts], settings)
    counters = {metric.name: getattr(metric, "value", getattr(metric, "values", None)) for metric in engine.get_metrics() if "spec_decode" in metric.name}
    return [list(output.outputs[0].token_ids) for output in outputs], counters


def compare(language: str, k: int, new_tokens: int = 60) -> dict[str, Any]:
    """One arm of the engine beside this package: equal tokens, and rounds of both."""
    from .benchmark import held_out_prompts
    from .checkpoint import SHIPPED
    from .decoding import Target, decode_mtp, decode_plain

    prompts = held_out_prompts(language)["test"][:8]
    tokens, counters = served(SHIPPED / language, prompts, k, new_tokens)
    target = Target.load(language)
    settings: dict[str, Any] = {"stop": (), "max_new_tokens": new_tokens}
    own = [decode_plain(target, [prompt], **settings)[0].tokens for prompt in prompts]
    found = {
        "engine": f"vllm-cpu {version('vllm-cpu')}",
        "k": k,
        "prompts": len(prompts),
        "tokens": sum(map(len, own)),
        "tokens_equal": sum(mine == theirs for ours, other in zip(own, tokens) for mine, theirs in zip(ours, other)),
    }
    if k:
        found["rounds"] = counters["vllm:spec_decode_num_drafts"]
        found["accepted_per_position"] = counters["vllm:spec_decode_num_accepted_tokens_per_pos"]
        found["own_rounds"] = sum(len(decode_mtp(target, [prompt], k=k, **settings)[0].rounds) for prompt in prompts)
    return found


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m mtp.served", description="Compare a serving engine with this package on a shipped checkpoint.")
    parser.add_argument("--language", choices=["en", "zh"], default="en")
    parser.add_argument("--k", type=int, default=3, help="candidates a round; 0 decodes plainly")
    parser.add_argument("--json", type=Path, help="also add the record to the list in this file")
    options = parser.parse_args(arguments)
    if options.k < 0:
        parser.error("--k must be at least 0")
    os.environ.update({name: os.environ.get(name, value) for name, value in SETTINGS.items()})
    register()
    record = compare(options.language, options.k)
    print(json.dumps(record))
    if options.json:
        records = json.loads(options.json.read_text(encoding="utf-8")) if options.json.exists() else []
        options.json.write_text(json.dumps([*records, record], indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
