"""Writes the golden values of packages/nn with Hugging Face transformers and torch, on the CPU.

    python packages/nn/src/goldens/write-goldens.py

Made with torch 2.13, transformers 5.18, safetensors 0.8. Modules have random weights; biases and
norm weights are moved off their zeros and ones so that no part of a formula can hide. Names are
those of the parameters in packages/nn, which hold q, k and v of the vision tower apart.
"""

import pathlib

import torch
from safetensors.torch import save_file
from transformers.models.qwen2_5_vl.configuration_qwen2_5_vl import (
    Qwen2_5_VLTextConfig,
    Qwen2_5_VLVisionConfig,
)
from transformers.models.qwen2_5_vl.modeling_qwen2_5_vl import (
    Qwen2_5_VisionTransformerPretrainedModel,
    Qwen2_5_VLDecoderLayer,
    Qwen2_5_VLRotaryEmbedding,
    Qwen2_5_VLVisionRotaryEmbedding,
)
from transformers.models.qwen3_vl_moe.configuration_qwen3_vl_moe import Qwen3VLMoeTextConfig
from transformers.models.qwen3_vl_moe.modeling_qwen3_vl_moe import Qwen3VLMoeTextSparseMoeBlock
from transformers.vision_utils import get_vision_position_ids, get_vision_window_index

HERE = pathlib.Path(__file__).parent


def write(name, tensors):
    tensors = {key: value.detach().contiguous() for key, value in tensors.items()}
    save_file(tensors, HERE / f"{name}.safetensors", metadata={"format": "pt"})


def randomise(module):
    for parameter in module.parameters():
        with torch.no_grad():
            if parameter.dim() == 1:
                parameter.add_(0.3 * torch.randn_like(parameter))
            else:
                parameter.copy_(torch.randn_like(parameter) / parameter[0].numel() ** 0.5)


def apart(tensors):
    """Parameters by name, with the vision tower's fused qkv split."""
    result = {}
    for key, value in tensors:
        if ".qkv." in key:
            for part, chunk in zip("qkv", value.chunk(3)):
                result[key.replace(".qkv.", f".{part}.")] = chunk
        else:
            result[key] = value
    return result


def gradients(module):
    pairs = [(name, parameter.grad) for name, parameter in module.named_parameters()]
    return {f"grad.{name}": value for name, value in apart(pairs).items()}


def decoder_layer():
    torch.manual_seed(1)
    config = Qwen2_5_VLTextConfig(
        vocab_size=32,
        hidden_size=32,
        intermediate_size=24,
        num_hidden_layers=1,
        num_attention_heads=4,
        num_key_value_heads=2,
        rms_norm_eps=1e-6,
        rope_parameters={
            "rope_type": "default",
            "rope_theta": 1000.0,
            "mrope_section": [1, 1, 2],
        },
    )
    config._attn_implementation = "eager"
    layer = Qwen2_5_VLDecoderLayer(config, 0)
    randomise(layer)
    # Text, then a 2x3 image, then text again.
    positions = torch.tensor(
        [
            [0, 1, 2, 2, 2, 2, 2, 2, 5, 6],
            [0, 1, 2, 2, 2, 3, 3, 3, 5, 6],
            [0, 1, 2, 3, 4, 2, 3, 4, 5, 6],
        ]
    )
    length = positions.shape[1]
    x = torch.randn(1, length, 32, requires_grad=True)
    cos, sin = Qwen2_5_VLRotaryEmbedding(config)(x, positions[:, None])
    mask = torch.full((length, length), float("-inf")).triu(1)[None, None]
    y = layer(x, attention_mask=mask, position_embeddings=(cos, sin))
    seed = torch.randn_like(y)
    y.backward(seed)
    write(
        "decoder-layer",
        {
            **{f"layer.{name}": value for name, value in layer.named_parameters()},
            **{name.replace("grad.", "grad.layer."): g for name, g in gradients(layer).items()},
            "positions": positions,
            "cos": cos[0, :, :4],
            "sin": sin[0, :, :4],
            "x": x[0],
            "y": y[0],
            "seed": seed[0],
            "grad.x": x.grad[0],
        },
    )


def experts():
    """Five experts of which a token uses two; one has no token."""
    torch.manual_seed(3)
    config = Qwen3VLMoeTextConfig(
        hidden_size=12, moe_intermediate_size=7, num_experts=5, num_experts_per_tok=2
    )
    config._experts_implementation = "eager"
    layer = Qwen3VLMoeTextSparseMoeBlock(config)
    randomise(layer)
    with torch.no_grad():
        layer.gate.weight[4] = 0
        layer.gate.weight[4, 0] = -20
    x = torch.randn(1, 9, 12)
    x[..., 0] = x[..., 0].abs() + 0.5
    x.requires_grad_()
    y = layer(x)
    seed = torch.randn_like(y)
    y.backward(seed)
    write(
        "experts",
        {
            **{f"mlp.{name}": value for name, value in layer.named_parameters()},
            **{name.replace("grad.", "grad.mlp."): g for name, g in gradients(layer).items()},
            "chosen": layer.gate(x)[2],
            "x": x[0],
            "y": y[0],
            "seed": seed[0],
            "grad.x": x.grad[0],
        },
    )


def vision_tower():
    torch.manual_seed(2)
    config = Qwen2_5_VLVisionConfig(
        depth=2,
        hidden_size=16,
        intermediate_size=20,
        num_heads=2,
        patch_size=2,
        spatial_merge_size=2,
        temporal_patch_size=2,
        window_size=8,
        out_hidden_size=12,
        fullatt_block_indexes=[1],
    )
    config._attn_implementation = "eager"
    tower = Qwen2_5_VisionTransformerPretrainedModel(config)
    randomise(tower)
    # A clip of two frames, an image that windows of 2x2 units do not tile, one that they do.
    grids = torch.tensor([[2, 4, 6], [1, 10, 6], [1, 4, 4]])
    count = int(grids.prod(1).sum())
    patches = torch.randn(count, 3 * 2 * 2 * 2)
    features = tower(patches, grid_thw=grids).pooler_output
    seed = torch.randn_like(features)
    features.backward(seed)
    position_ids = get_vision_position_ids(grids, 2)
    cos, sin = Qwen2_5_VLVisionRotaryEmbedding(config)(patches, position_ids)
    order, window_ends = get_vision_window_index(
        grids, spatial_merge_size=2, window_size=8, patch_size=2
    )
    named = apart(tower.named_parameters())
    write(
        "vision-tower",
        {
            **{f"visual.{name}": value for name, value in named.items()},
            **{
                name.replace("grad.", "grad.visual."): g for name, g in gradients(tower).items()
            },
            "grids": grids,
            "order": order,
            "window_ends": window_ends,
            "position_ids": position_ids,
            "cos": cos[:, :4],
            "sin": sin[:, :4],
            "patches": patches,
            "features": features,
            "seed": seed,
        },
    )


def rotary_tables():
    """M-RoPE with the sections and the base of the released models, far positions included."""
    config = Qwen2_5_VLTextConfig(
        hidden_size=256,
        num_attention_heads=2,
        num_key_value_heads=2,
        rope_parameters={
            "rope_type": "default",
            "rope_theta": 1000000.0,
            "mrope_section": [16, 24, 24],
        },
    )
    positions = torch.tensor([[0, 3, 1000, 32767], [0, 5, 1001, 32767], [0, 9, 1007, 32767]])
    cos, sin = Qwen2_5_VLRotaryEmbedding(config)(torch.zeros(1), positions[:, None])
    write("rotary-tables", {"positions": positions, "cos": cos[0, :, :64], "sin": sin[0, :, :64]})


def element_types():
    write(
        "element-types",
        {
            "f64": torch.tensor([1.5, -2.25], dtype=torch.float64),
            "f32": torch.tensor([[1e-9, 3.5, -1.0]], dtype=torch.float32),
            "f16": torch.tensor([0.25, 65504.0, 6e-8], dtype=torch.float16),
            "bf16": torch.tensor([1.5, -2.0, 3.140625], dtype=torch.bfloat16),
            "i64": torch.tensor([2147483647, -2147483648]),
            "i32": torch.tensor([[1], [-7]], dtype=torch.int32),
            "u8": torch.tensor([0, 255, 7], dtype=torch.uint8),
            "empty": torch.zeros(0, 3),
            "scalar": torch.tensor(42.0),
        },
    )


decoder_layer()
experts()
vision_tower()
rotary_tables()
element_types()
