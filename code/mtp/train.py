"""Rebuild a checkpoint from its corpus: `python -m mtp.train --language en --out FOLDER`.

Two phases:

1. trunk and MTP module together: next-token loss plus 0.3 times the mean over depths of the MTP loss (DeepSeek-V3, section 2.2),
   the module unrolled the way decoding reuses it;
2. the module alone, on texts that the frozen target has written itself (where it will draft, as FastMTP does, arXiv 2509.18362), for
   what verification counts: the candidates of a round that are accepted. Σ min(p, q) as a loss is DistillSpec's (arXiv 2310.08461),
   its product over the candidates is their survival.

Matrices are trained by Muon (Jordan et al. 2024), the rest by AdamW. The state is written every few steps: the same command goes on
where it was stopped, and ends with the same parameters as a run that was not stopped.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from torch import Tensor, nn
from tqdm import tqdm

from .checkpoint import END_OF_TEXT, save_checkpoint, train_tokenizer
from .data import Corpus, load_corpus
from .decoding import Target, decode_plain
from .lookups import NGramTable
from .model import ModelConfig, MTPLanguageModel

NGRAM_ENTRIES = 60_000
# Of the second phase. The lower temperature stands for greedy drafting, where Σ min(p, q) has no gradient.
TEMPERATURES = (0.25, 0.8)


@dataclass(frozen=True)
class TrainingPlan:
    """What a run depends on beside its corpus."""

    steps: int = 1000
    own_steps: int = 900
    depth: int = 3
    own_depth: int = 4
    mtp_weight: float = 0.3
    imitation_weight: float = 0.05
    batch: int = 8
    length: int = 256
    warm_up: int = 50
    matrix_rate: float = 0.02
    other_rate: float = 3e-3
    beginning: int = 16
    own_batches: int = 10
    own_rows: int = 128
    seed: int = 0

    def rate(self, step: int) -> float:
        """Factor on the learning rates: linear warm-up, constant, linear decay over the second half; once in each phase."""
        for total in self.phases:
            if step < total:
                return min((step + 1) / self.warm_up, 2 * (total - step) / total, 1.0)
            step -= total
        raise ValueError(f"step={step!r} lies beyond the plan, {self.phases}")

    @property
    def phases(self) -> tuple[int, int]:
        return self.steps, self.own_steps


def batch_of(stream: Tensor, plan: TrainingPlan, step: int) -> Tensor:
    """(batch, length + 1) windows of the token stream; depends on seed and step only, so a resumed run sees the same ones."""
    generator = torch.Generator().manual_seed(plan.seed * 1_000_003 + step)
    starts = torch.randint(len(stream) - plan.length, (plan.batch,), generator=generator)
    return torch.stack([stream[start : start + plan.length + 1] for start in starts.tolist()])


def mtp_labels(tokens: Tensor, depth: int) -> Tensor:
    """Labels of depth `depth` for slots 0 … T-depth: slot i predicts token i + depth + 1. tokens: (B, T+1)."""
    return tokens[:, depth + 1 :]


def joint_loss(model: MTPLanguageModel, tokens: Tensor, depth: int, mtp_weight: float) -> tuple[Tensor, list[float]]:
    """Next-token loss + mtp_weight · mean over depths of the MTP loss; also the losses one by one (nats a token).

    Args:
        tokens: (B, T+1), of which T positions are read and T predicted.
    """
    hidden = model.hidden(tokens[:, :-1])
    losses = [F.cross_entropy(model.logits(hidden).flatten(0, 1), tokens[:, 1:].flatten())]
    states = model.mtp_states(hidden, tokens[:, 1:], depth)
    for index, state in enumerate(states, start=1):
        labels = mtp_labels(tokens, index)
        # The deepest slot's label lies beyond the window: every depth has one more state than labels.
        losses.append(F.cross_entropy(model.lm_head(state[:, : labels.shape[1]]).flatten(0, 1), labels.flatten()))
    total = losses[0] + mtp_weight * torch.stack(losses[1:]).mean()
    return total, [loss.item() for loss in losses]


class Texts(NamedTuple):
    """Texts and what the frozen trunk makes of them: tokens (B, T+1), hidden (B, T, D)."""

    tokens: Tensor
    hidden: Tensor


def drafting_loss(p: Tensor, q: Tensor, imitation_weight: float) -> tuple[Tensor, list[float]]:
    """Share of a round's candidates that the target is expected to refuse, mean over slots and `TEMPERATURES`.

    A little cross-entropy against the target keeps what has been learnt where p and q hardly overlap and the share says nothing.

    Args:
        p, q: logits of both models for the same tokens, (depth, B, slots, V).

    Returns:
        The loss, and for each depth the probability of being refused once all before have been accepted.
    """
    imitation = F.cross_entropy(q.flatten(0, -2), torch.softmax(p, dim=-1).flatten(0, -2))
    overlaps = torch.stack(
        [torch.minimum(torch.softmax(p / heat, -1), torch.softmax(q / heat, -1)).sum(-1) for heat in TEMPERATURES]
    )
    survival = overlaps.cumprod(1)
    total = 1 - survival.mean() + imitation_weight * imitation
    return total, (1 - overlaps).mean(dim=(0, 2, 3)).tolist()


def target_and_draft(model: MTPLanguageModel, texts: Texts, depth: int) -> tuple[Tensor, Tensor]:
    """Logits of trunk and module for the same tokens, (depth, B, T-depth, V) each; those of the trunk without a gradient."""
    with torch.no_grad():
        # Slot i at depth d predicts token i+d+1, whose distribution the trunk gives at position i+d.
        p = by_depth(model.logits(texts.hidden), depth)
    slots = p.shape[2]
    states = model.mtp_states(texts.hidden, texts.tokens[:, 1:], depth)
    return p, torch.stack([model.lm_head(state[:, :slots]) for state in states])


def by_depth(logits: Tensor, depth: int) -> Tensor:
    """(B, T, V) → (depth, B, T-depth, V): at depth d slot i stands beside position i+d."""
    slots = logits.shape[1] - depth
    return torch.stack([logits[:, index : index + slots] for index in range(1, depth + 1)])


class Muon(torch.optim.Optimizer):
    """Momentum, orthogonalised by five Newton-Schulz steps; matrices of one shape are treated together."""

    def __init__(self, parameters: Iterable[nn.Parameter], lr: float, momentum: float = 0.95) -> None:
        super().__init__(list(parameters), {"lr": lr, "momentum": momentum})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:
        for group in self.param_groups:
            by_shape: dict[torch.Size, list[nn.Parameter]] = {}
            for parameter in group["params"]:
                if parameter.grad is not None:
                    by_shape.setdefault(parameter.shape, []).append(parameter)
            for shape, parameters in by_shape.items():
                scale = group["lr"] * max(1.0, shape[0] / shape[1]) ** 0.5
                for parameter, update in zip(parameters, orthogonalise(self._momenta(parameters, group["momentum"]))):
                    parameter.add_(update, alpha=-scale)

    def _momenta(self, parameters: list[nn.Parameter], momentum: float) -> Tensor:
        updates = []
        for parameter in parameters:
            state = self.state[parameter]
            buffer = state.setdefault("momentum", torch.zeros_like(parameter))
            buffer.lerp_(parameter.grad, 1 - momentum)
            updates.append(parameter.grad.lerp(buffer, momentum))
        return torch.stack(updates)


def orthogonalise(matrices: Tensor) -> Tensor:
    """Bring the singular values of each (N, rows, columns) matrix near 1, by the quintic iteration of Jordan et al."""
    transposed = matrices.shape[1] > matrices.shape[2]
    x = matrices.transpose(1, 2) if transposed else matrices
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(5):
        square = x @ x.transpose(1, 2)
        x = 3.4445 * x + (2.0315 * square @ square - 4.7750 * square) @ x
    return x.transpose(1, 2) if transposed else x


def optimisers(model: MTPLanguageModel, plan: TrainingPlan) -> list[torch.optim.Optimizer]:
    matrices = [p for layers in (model.model.layers, model.model.mtp_layers) for p in layers.parameters() if p.ndim == 2]
    chosen = {id(p) for p in matrices}
    others = [p for p in model.parameters() if id(p) not in chosen]
    return [
        Muon(matrices, lr=plan.matrix_rate),
        torch.optim.AdamW(others, lr=plan.other_rate, betas=(0.9, 0.95), weight_decay=0.0),
    ]


def update(model: nn.Module, optimisers: list[torch.optim.Optimizer], loss: Tensor, plan: TrainingPlan, step: int) -> None:
    """One step of Muon and AdamW, in the order of `optimisers`, at the plan's rates; the gradient is clipped to norm 1."""
    for optimiser in optimisers:
        optimiser.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_([parameter for parameter in model.parameters() if parameter.grad is not None], 1.0)
    for optimiser, rate in zip(optimisers, (plan.matrix_rate, plan.other_rate)):
        for group in optimiser.param_groups:
            group["lr"] = rate * plan.rate(step)
        optimiser.step()


def own_texts(model: MTPLanguageModel, stream: Tensor, plan: TrainingPlan) -> Texts:
    """Texts that the target writes after beginnings from `stream`, one half greedily and one half at temperature 0.8."""
    target, generator = Target(model), torch.Generator().manual_seed(plan.seed)
    new_tokens = plan.length + 1 - plan.beginning
    rows: list[list[int]] = []
    for number in range(plan.own_batches):
        starts = torch.randint(len(stream) - plan.beginning, (plan.own_rows,), generator=generator).tolist()
        prompts = [stream[start : start + plan.beginning].tolist() for start in starts]
        temperature = 0.8 * (number % 2)
        texts = decode_plain(
            target, prompts, temperature=temperature, seed=plan.own_rows * number, stop=(), max_new_tokens=new_tokens
        )
        rows += [[*prompt, *text.tokens] for prompt, text in zip(prompts, texts)]
    tokens = torch.tensor(rows)
    with torch.no_grad():
        hidden = torch.cat([model.hidden(part[:, :-1]) for part in tokens.split(plan.batch)])
    return Texts(tokens, hidden)


def own_batch(texts: Texts, plan: TrainingPlan, step: int) -> Texts:
    """`batch` of the texts; depends on seed and step only."""
    generator = torch.Generator().manual_seed(plan.seed * 1_000_003 + step)
    chosen = torch.randint(len(texts.tokens), (plan.batch,), generator=generator)
    return Texts(texts.tokens[chosen], texts.hidden[chosen])


class Training:
    """Model, optimisers and place in the plan; one `step` at a time."""

    def __init__(self, config: ModelConfig, plan: TrainingPlan, stream: Tensor) -> None:
        torch.manual_seed(plan.seed)
        self.plan, self.stream, self.done = plan, stream, 0
        self.model = initialise(MTPLanguageModel(config))
        self.optimisers = optimisers(self.model, plan)
        self.losses: list[list[float]] = []
        self._own: Texts | None = None

    @property
    def total(self) -> int:
        return sum(self.plan.phases)

    def step(self) -> list[float]:
        """One update; returns next-token loss and a loss per depth in the first phase, a share refused per depth in the second."""
        plan, joint = self.plan, self.done < self.plan.steps
        for parameter in self.model.parameters():
            parameter.requires_grad_(joint)
        self.model.model.mtp_layers.requires_grad_(True)
        if joint:
            loss, parts = joint_loss(self.model, batch_of(self.stream, plan, self.done), plan.depth, plan.mtp_weight)
        else:
            p, q = target_and_draft(self.model, own_batch(self.own, plan, self.done), plan.own_depth)
            loss, parts = drafting_loss(p, q, plan.imitation_weight)
        update(self.model, self.optimisers, loss, plan, self.done)
        self.done += 1
        self.losses.append(parts)
        return parts

    @property
    def own(self) -> Texts:
        """The target's own texts. They follow from plan and trunk, so a resumed run writes the same ones again."""
        if self._own is None:
            self._own = own_texts(self.model, self.stream, self.plan)
        return self._own

    def save(self, path: Path) -> None:
        state = {
            "plan": asdict(self.plan),
            "done": self.done,
            "model": self.model.state_dict(),
            "optimisers": [optimiser.state_dict() for optimiser in self.optimisers],
            "losses": self.losses,
        }
        part = path.with_suffix(".part")
        torch.save(state, part)
        part.replace(path)

    def load(self, path: Path) -> None:
        """Go on from a state written by `save`.

        Raises:
            ValueError: the state belongs to another plan.
        """
        state = torch.load(path, weights_only=True)
        if state["plan"] != asdict(self.plan):
            raise ValueError(f"{path} was written by another plan, {state['plan']}: remove it, or train with that plan")
        self.model.load_state_dict(state["model"])
        for optimiser, saved in zip(self.optimisers, state["optimisers"]):
            optimiser.load_state_dict(saved)
        self.done, self.losses = state["done"], state["losses"]


def initialise(model: MTPLanguageModel) -> MTPLanguageModel:
    """Normal weights of standard deviation 1/√inputs; what writes to the residual stream is scaled down by its depth."""
    writers = 2 * model.config.num_hidden_layers
    for name, parameter in model.named_parameters():
        if parameter.ndim == 2 and "embed_tokens" not in name:
            scale = parameter.shape[1] ** -0.5
            nn.init.normal_(
                parameter, std=scale / math.sqrt(writers) if name.endswith(("o_proj.weight", "down_proj.weight")) else scale
            )
        elif "embed_tokens" in name:
            nn.init.normal_(parameter, std=0.5)
        elif name.endswith("bias"):
            nn.init.zeros_(parameter)
    return model


def encode_stream(tokenizer: Tokenizer, documents: list[str]) -> Tensor:
    """All documents in one row of tokens, each closed by the end-of-text token."""
    end = tokenizer.token_to_id(END_OF_TEXT)
    return torch.tensor([token for encoding in tokenizer.encode_batch(documents) for token in [*encoding.ids, end]])


def evaluate(model: MTPLanguageModel, stream: Tensor, plan: TrainingPlan, batches: int = 8) -> list[float]:
    """Losses on a held-out stream, nats a token: next token, then one per depth."""
    with torch.no_grad():
        parts = [joint_loss(model, batch_of(stream, plan, step), plan.own_depth, 0.0)[1] for step in range(batches)]
    return torch.tensor(parts).mean(0).tolist()


def train(language: str, out: Path, plan: TrainingPlan, vocab_size: int, save_every: int = 100) -> None:
    """Train from the corpus of `language`, resume if `out` holds a state, and write the checkpoint to `out`."""
    corpus = load_corpus(language)
    tokenizer = train_tokenizer(corpus.train, vocab_size)
    training = Training(ModelConfig(vocab_size=vocab_size), plan, encode_stream(tokenizer, corpus.train))
    out.mkdir(parents=True, exist_ok=True)
    state = out / "training.pt"
    if state.exists():
        training.load(state)
    started = time.monotonic()
    with tqdm(total=training.total, initial=training.done, unit="step") as bar:
        while training.done < training.total:
            losses = training.step()
            bar.update()
            bar.set_postfix_str("losses " + " ".join(f"{loss:.3f}" for loss in losses))
            if training.done % save_every == 0:
                training.save(state)
    training.save(state)
    record = {
        "language": language,
        "plan": asdict(plan),
        "minutes": round((time.monotonic() - started) / 60, 1),
        "held_out": evaluate(training.model, encode_stream(tokenizer, corpus.tune), plan),
        "losses": [[round(loss, 4) for loss in parts] for parts in training.losses[::10]],
    }
    save_checkpoint(out, training.model, tokenizer)
    save_companions(out, tokenizer, corpus)
    (out / "losses.json").write_text(json.dumps(record), encoding="utf-8")
    print(f"held-out losses (next token, then MTP depths): {record['held_out']}; checkpoint in {out}")


def save_companions(out: Path, tokenizer: Tokenizer, corpus: Corpus, prompts: int = 30, length: int = 24) -> None:
    """What the benchmark needs beside the model, so that it needs no corpus: the n-gram table, and held-out prompts."""
    NGramTable.count(encode_stream(tokenizer, corpus.train).tolist(), NGRAM_ENTRIES).save(out / "ngram.table")
    texts = {"tune": corpus.tune, "test": corpus.test}
    beginnings = {
        name: [ids[:length] for text in documents if len(ids := tokenizer.encode(text).ids) >= length][:prompts]
        for name, documents in texts.items()
    }
    (out / "prompts.json").write_text(json.dumps(beginnings) + "\n", encoding="utf-8")


def main(arguments: list[str] | None = None) -> None:
    defaults = TrainingPlan()
    parser = argparse.ArgumentParser(prog="python -m mtp.train", description="Rebuild a checkpoint from its corpus.")
    parser.add_argument("--language", choices=["en", "zh"], required=True)
    parser.add_argument("--out", type=Path, required=True, help="folder of the checkpoint; a state in it is resumed")
    parser.add_argument("--steps", type=int, default=defaults.steps, help="steps of trunk and module together")
    parser.add_argument("--own-steps", type=int, default=defaults.own_steps, help="steps of the module on the target's texts")
    parser.add_argument("--vocab-size", type=int, default=512)
    parser.add_argument("--seed", type=int, default=defaults.seed)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    plan = TrainingPlan(steps=options.steps, own_steps=options.own_steps, seed=options.seed)
    try:
        train(options.language, options.out, plan, options.vocab_size)
    except RuntimeError as error:
        parser.exit(2, f"{parser.prog}: {error}\n")


if __name__ == "__main__":
    main()
