"""A separate small draft model, for comparison: `python -m mtp.draft_model --language en [--json FILE]`.

Trains a transformer of few layers to draft for the shipped target, on the target's own texts and for the same loss as the MTP module
(`mtp.train`), then times it beside the module with the protocol of `mtp.benchmark`. It sees tokens only; what the module has ahead of
it is the target's own state. No draft model is shipped: `draft_model.json` beside each checkpoint is this command's record.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from tqdm import tqdm

from .benchmark import SAMPLING, Arm, held_out_prompts, measure
from .chain import ChainDrafter, last_of_each
from .data import load_corpus
from .decoding import Target
from .engine import Engine, padded
from .model import MTPLanguageModel
from .mtp_drafter import MTPDrafter
from .train import Texts, TrainingPlan, by_depth, drafting_loss, encode_stream, initialise, optimisers, own_batch, own_texts, update

if TYPE_CHECKING:
    from .decoding import Session


class DraftModelDrafter(ChainDrafter):
    """A language model of its own, with its own KV cache; it must share the target's tokens.

    Args:
        engine: the draft model. Its MTP module, if it has one, is not used.
    """

    name = "draft_model"

    def __init__(self, engine: Engine, sample: bool = True) -> None:
        super().__init__(sample)
        self.engine = engine

    def start(self, session: Session) -> None:
        """Raises ValueError when the vocabularies differ in size."""
        own, wanted = self.engine.config.vocab_size, session.engine.config.vocab_size
        if own != wanted:
            raise ValueError(f"the draft model has a vocabulary of {own}, the target one of {wanted}: they must be the same tokens")
        self.cache = self.engine.trunk_cache(len(session.tokens), session.capacity)

    def read(self, session: Session) -> None:
        """The first round reads the whole prompt in one call."""

    def begin(self, session: Session) -> Tensor:
        """Read the committed tokens that are not in the cache yet.

        Slots of candidates rest on tokens alone, so those of accepted candidates stay; what was refused begins where the text's newest
        token stands.
        """
        texts = session.tokens
        base = [min(len(tokens) - 1, length) for tokens, length in zip(texts, self.cache.lengths)]
        self.cache.rollback(base)
        unread = [tokens[length:] for tokens, length in zip(texts, base)]
        states = self.engine.trunk(padded(unread), self.cache)
        self.cache.rollback([len(tokens) for tokens in texts])
        return last_of_each(states, [len(tokens) for tokens in unread])

    def extend(self, session: Session, state: Tensor, tokens: Tensor) -> Tensor:
        return self.engine.trunk(tokens, self.cache)

    def logits(self, session: Session, state: Tensor) -> Tensor:
        return self.engine.logits(state)


def train_draft_model(
    target: MTPLanguageModel, texts: Texts, layers: int, steps: int, plan: TrainingPlan, progress: bool = True
) -> MTPLanguageModel:
    """A model of `layers` layers that drafts for `target`; embedding and head start as the target's.

    The loss is the module's; in the first half of the steps imitation has full weight, for it begins without having learnt anything.
    """
    torch.manual_seed(plan.seed)
    config = replace(target.config, num_hidden_layers=layers, num_nextn_predict_layers=0)
    model = initialise(MTPLanguageModel(config))
    model.model.embed_tokens.load_state_dict(target.model.embed_tokens.state_dict())
    model.lm_head.load_state_dict(target.lm_head.state_dict())
    own_plan = replace(plan, steps=steps // 2, own_steps=steps - steps // 2)
    updates = optimisers(model, own_plan)
    for step in tqdm(range(steps), unit="step", disable=not progress):
        batch = own_batch(texts, own_plan, step)
        with torch.no_grad():
            p = by_depth(target.logits(batch.hidden), plan.own_depth)
        q = by_depth(model.logits(model.hidden(batch.tokens[:, :-1])), plan.own_depth)
        loss, _ = drafting_loss(p, q, 1.0 if step < own_plan.steps else plan.imitation_weight)
        update(model, updates, loss, own_plan, step)
    return model


def compare(language: str, layers: tuple[int, ...] = (1, 2), steps: int = 2000, progress: bool = True) -> list[dict[str, Any]]:
    """Train, then time draft models and MTP at k = 1 … 4, greedily and at T = 0.8; one entry an arm."""
    target, plan = Target.load(language), TrainingPlan()
    assert target.tokenizer is not None
    texts = own_texts(target.engine.model, encode_stream(target.tokenizer, load_corpus(language).train), plan)
    engines = {count: Engine(train_draft_model(target.engine.model, texts, count, steps, plan, progress).eval()) for count in layers}
    found = []
    for temperature in (0.0, SAMPLING):
        plain = Arm("plain", 0, temperature)
        # The module has one layer.
        arms = [(Arm("mtp", k, temperature, MTPDrafter), 1) for k in range(1, 5)]
        for count, engine in engines.items():
            make = partial(DraftModelDrafter, engine)
            arms += [(Arm(DraftModelDrafter.name, k, temperature, make), count) for k in range(1, 5)]
        measure(target, [plain, *(arm for arm, _ in arms)], held_out_prompts(language)["test"][:10], 5, 100, progress)
        found += [describe(arm, count, plain) for arm, count in arms]
    return found


def describe(arm: Arm, layers: int, plain: Arm) -> dict[str, Any]:
    """One entry of the record."""
    return {
        "drafter": arm.drafter,
        "layers": layers,
        "k": arm.k,
        "temperature": arm.temperature,
        "tokens_per_round": round(arm.ledger.emitted_per_round, 3),
        "draft_ms": round(1e3 * arm.round_seconds()["draft"], 3),
        "speedup": round(arm.speedup(plain), 3),
        "output_equal": arm.outputs == plain.outputs if arm.temperature == 0 else None,
    }


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m mtp.draft_model", description="Measure a separate small draft model beside MTP.")
    parser.add_argument("--language", choices=["en", "zh"], default="en")
    parser.add_argument("--layers", type=int, nargs="+", default=[1, 2], help="of the draft models to train")
    parser.add_argument("--steps", type=int, default=2000, help="of training each of them")
    parser.add_argument("--json", type=Path, help="also write the record to this file")
    options = parser.parse_args(arguments)
    for name, value, least in (("--layers", min(options.layers), 1), ("--steps", options.steps, 2)):
        if value < least:
            parser.error(f"{name} must be at least {least}, not {value}")
    torch.set_num_threads(1)
    record = compare(options.language, tuple(options.layers), options.steps)
    for entry in record:
        place = f"{entry['drafter']:<12}{entry['layers']:>3} layers  k={entry['k']}  T={entry['temperature']}"
        print(f"{place}  {entry['tokens_per_round']:.2f} tokens a round, speed-up {entry['speedup']:.2f}")
    if options.json:
        options.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
