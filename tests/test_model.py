"""The model's definition: golden values worked out by hand, what a slot may see, and MiMo's names."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from model_checks import check_engine, check_golden_join, check_module_reuse
from mtp.model import ModelConfig, MTPLanguageModel, MTPModule
from tiny import TINY, random_tokens, tiny_model

SMALLEST = ModelConfig(
    vocab_size=3, hidden_size=2, intermediate_size=1, num_hidden_layers=1, num_attention_heads=1, rms_norm_eps=1e-30
)


def test_join_golden():
    check_golden_join()


def test_module_golden():
    """Slot 0 by hand: join, attention over itself (its value), SwiGLU, final norm."""
    module = MTPModule(SMALLEST).double().requires_grad_(False)
    for parameter in module.parameters():
        parameter.zero_()
    for norm in (module.token_layernorm, module.hidden_layernorm, module.input_layernorm, module.post_attention_layernorm):
        norm.weight.fill_(1.0)
    module.final_layernorm.weight.copy_(torch.tensor([2.0, 1.0]))
    # x = normed hidden; hidden (1, 7) has mean square 25, so x = (0.2, 1.4).
    module.input_proj.weight.copy_(torch.tensor([[1.0, 0, 0, 0], [0, 1, 0, 0]]))
    # The input norm leaves x as it is (mean square 1). value = (x_1 + 1, x_0); o swaps: attended = (0.2, 2.4).
    module.self_attn.v_proj.weight.copy_(torch.tensor([[0.0, 1], [1, 0]]))
    module.self_attn.v_proj.bias.copy_(torch.tensor([1.0, 0]))
    module.self_attn.o_proj.weight.copy_(torch.tensor([[0.0, 1], [1, 0]]))
    # x = (0.4, 3.8), mean square 7.3. gate = up = x_0 normed; down writes to coordinate 0.
    module.mlp.gate_proj.weight.copy_(torch.tensor([[1.0, 0]]))
    module.mlp.up_proj.weight.copy_(torch.tensor([[1.0, 0]]))
    module.mlp.down_proj.weight.copy_(torch.tensor([[1.0], [0]]))
    inner = 0.4 / math.sqrt(7.3)
    first = 0.4 + inner * inner / (1 + math.exp(-inner))
    norm = math.sqrt((first**2 + 3.8**2) / 2)
    (state,) = module.unroll(torch.tensor([[[1.0, 7.0]]]).double(), torch.ones(1, 1, 2).double(), 1, 10_000.0)
    assert state[0, 0].tolist() == pytest.approx([2 * first / norm, 3.8 / norm], abs=1e-12)


def test_token_is_left_out_at_position_zero_only():
    module = tiny_model().model.mtp_layers[0]
    hidden, one, two = torch.randn(3, 1, 2, 16, dtype=torch.float64, generator=torch.Generator().manual_seed(1)).unbind()
    change = module.join(hidden, one, torch.arange(2)) - module.join(hidden, two, torch.arange(2))
    assert change[0, 0].abs().max() == 0
    assert change[0, 1].abs().max() > 1e-3


def test_trunk_is_causal():
    model, tokens = tiny_model(), random_tokens(1, 12)
    before = model.hidden(tokens)
    for place in range(12):
        changed = tokens.clone()
        changed[0, place] = (changed[0, place] + 1) % TINY.vocab_size
        after = model.hidden(changed)
        assert torch.equal(before[:, :place], after[:, :place])
        assert (before[:, place:] - after[:, place:]).abs().amax(-1).min() > 1e-6


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_slot_sees_tokens_up_to_its_own_and_not_its_label(depth: int):
    """Slot i at depth d reads t_{i+d} and predicts t_{i+d+1}: the label must not leak in, the token before it must count."""
    model, text = tiny_model(), random_tokens(1, 14)

    def states(tokens: torch.Tensor) -> torch.Tensor:
        return model.mtp_states(model.hidden(tokens[:, :-1]), tokens[:, 1:], depth)[-1]

    before = states(text)
    for slot in range(1, 13 - depth):
        for place, counts in ((slot + depth + 1, False), (slot + depth, True)):
            changed = text.clone()
            changed[0, place] = (changed[0, place] + 1) % TINY.vocab_size
            assert torch.equal(states(changed)[0, slot], before[0, slot]) is not counts


def test_reused_module_equals_a_chain_with_a_cache():
    check_module_reuse()


def test_engine_equals_the_model():
    check_engine()


def test_parameter_names_are_mimos():
    names = set(tiny_model().state_dict())
    block = {
        *(f"self_attn.{x}_proj.{kind}" for x in "qkv" for kind in ("weight", "bias")),
        "self_attn.o_proj.weight",
        *(f"mlp.{x}_proj.weight" for x in ("gate", "up", "down")),
        "input_layernorm.weight",
        "post_attention_layernorm.weight",
    }
    module = {f"{x}.weight" for x in ("token_layernorm", "hidden_layernorm", "input_proj", "final_layernorm")}
    assert names == {
        "model.embed_tokens.weight",
        "model.norm.weight",
        "lm_head.weight",
        *(f"model.layers.{layer}.{name}" for layer in range(2) for name in block),
        *(f"model.mtp_layers.0.{name}" for name in block | module),
    }


def test_mtp_of_a_model_without_mtp_layers_is_an_error():
    model = tiny_model(replace(TINY, num_nextn_predict_layers=0))
    with pytest.raises(ValueError, match="no MTP layers"):
        model.mtp_states(torch.zeros(1, 3, 16).double(), random_tokens(1, 3))


@pytest.mark.parametrize("depth", [0, 4])
def test_depth_out_of_range(depth: int):
    with pytest.raises(ValueError, match=f"depth={depth}"):
        tiny_model().mtp_states(torch.zeros(1, 3, 16).double(), random_tokens(1, 3), depth)


@pytest.mark.parametrize(
    "name, value",
    [
        ("vocab_size", 0),
        ("num_hidden_layers", True),
        ("hidden_size", 3.0),
        ("num_nextn_predict_layers", 2),
        ("hidden_size", 15),
    ],
)
def test_bad_config_is_named(name: str, value: object):
    with pytest.raises(ValueError, match=name):
        MTPLanguageModel(replace(TINY, **{name: value}))
