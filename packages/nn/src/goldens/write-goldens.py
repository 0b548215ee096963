"""Writes the golden values of packages/nn with Hugging Face transformers and torch, on the CPU.

    python packages/nn/src/goldens/write-goldens.py [name of a file, all without]

Made with torch 2.13, transformers 5.18, safetensors 0.8. Modules have random weights; biases and
norm weights are moved off their zeros and ones so that no part of a formula can hide. Names are
those of the parameters in packages/nn, which hold q, k and v of the vision tower apart.
"""

import pathlib
import sys

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
from transformers import LlamaConfig
from transformers.models.idefics3.configuration_idefics3 import Idefics3VisionConfig
from transformers.models.idefics3.modeling_idefics3 import Idefics3VisionTransformer
from transformers.models.internvl.configuration_internvl import InternVLVisionConfig
from transformers.models.internvl.modeling_internvl import InternVLModel, InternVLVisionModel
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding
from transformers.models.qwen3_vl.configuration_qwen3_vl import (
    Qwen3VLTextConfig,
    Qwen3VLVisionConfig,
)
from transformers.models.qwen3_vl.modeling_qwen3_vl import (
    Qwen3VLTextDecoderLayer,
    Qwen3VLTextRotaryEmbedding,
    Qwen3VLVisionModel,
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


def normalized_layer():
    """A decoder layer with normalized q and k, and interleaved M-RoPE."""
    torch.manual_seed(3)
    config = Qwen3VLTextConfig(
        vocab_size=32,
        hidden_size=24,
        head_dim=12,
        intermediate_size=20,
        num_hidden_layers=1,
        num_attention_heads=4,
        num_key_value_heads=2,
        rms_norm_eps=1e-6,
        rope_parameters={
            "rope_type": "default",
            "rope_theta": 1000.0,
            "mrope_section": [3, 2, 1],
            "mrope_interleaved": True,
        },
    )
    config._attn_implementation = "eager"
    layer = Qwen3VLTextDecoderLayer(config, 0)
    randomise(layer)
    positions = torch.tensor([[0, 1, 1, 1, 4, 5], [0, 1, 2, 3, 4, 5], [0, 1, 3, 2, 4, 5]])
    length = positions.shape[1]
    x = torch.randn(1, length, 24, requires_grad=True)
    cos, sin = Qwen3VLTextRotaryEmbedding(config)(x, positions[:, None])
    mask = torch.full((length, length), float("-inf")).triu(1)[None, None]
    y = layer(x, attention_mask=mask, position_embeddings=(cos, sin))
    seed = torch.randn_like(y)
    y.backward(seed)
    write(
        "normalized-layer",
        {
            **{f"layer.{name}": value for name, value in layer.named_parameters()},
            **{name.replace("grad.", "grad.layer."): g for name, g in gradients(layer).items()},
            "positions": positions,
            "cos": cos[0, :, :6],
            "sin": sin[0, :, :6],
            "x": x[0],
            "y": y[0],
            "seed": seed[0],
            "grad.x": x.grad[0],
        },
    )


def deepstack_tower():
    torch.manual_seed(4)
    config = Qwen3VLVisionConfig(
        depth=3,
        hidden_size=16,
        intermediate_size=20,
        num_heads=2,
        patch_size=2,
        spatial_merge_size=2,
        temporal_patch_size=2,
        out_hidden_size=12,
        num_position_embeddings=25,
        deepstack_visual_indexes=[0, 1],
    )
    config._attn_implementation = "eager"
    tower = Qwen3VLVisionModel(config)
    randomise(tower)
    # A clip of two frames, an image larger than the table of positions, one of a single unit.
    grids = torch.tensor([[2, 4, 6], [1, 10, 6], [1, 2, 2]])
    patches = torch.randn(int(grids.prod(1).sum()), 3 * 2 * 2 * 2)
    output = tower(patches, grid_thw=grids)
    features = [output.pooler_output, *output.deepstack_features]
    seeds = [torch.randn_like(one) for one in features]
    torch.autograd.backward(features, seeds)
    named = apart(tower.named_parameters())
    write(
        "deepstack-tower",
        {
            **{f"visual.{name}": value for name, value in named.items()},
            **{
                name.replace("grad.", "grad.visual."): g for name, g in gradients(tower).items()
            },
            "grids": grids,
            "patches": patches,
            **{f"features.{level}": one for level, one in enumerate(features)},
            **{f"seed.{level}": one for level, one in enumerate(seeds)},
        },
    )


def tile_tower(name, tower, units):
    """A tower over three tiles of 4x4 patches, and its output as units of 2x2 patches."""
    randomise(tower)
    tiles = torch.randn(3, 3, 8, 8)
    output = units(tower(pixel_values=tiles).last_hidden_state)
    seed = torch.randn_like(output)
    output.backward(seed)
    patches = tiles.view(3, 3, 4, 2, 4, 2).permute(0, 2, 4, 1, 3, 5).reshape(48, 12)
    write(
        name,
        {
            **{f"tower.{name}": value for name, value in tower.named_parameters()},
            **{
                name.replace("grad.", "grad.tower."): g for name, g in gradients(tower).items()
            },
            "patches": patches,
            "units": output,
            "seed": seed,
        },
    )


def class_token_tower():
    """InternVL's tower, whose class token is dropped."""
    torch.manual_seed(5)
    config = InternVLVisionConfig(
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=20,
        attention_bias=True,
        image_size=[8, 8],
        patch_size=[2, 2],
        use_mask_token=False,
        layer_scale_init_value=0.5,
    )
    config._attn_implementation = "eager"

    def units(hidden):
        grid = hidden[:, 1:].reshape(3, 4, 4, 16)
        return InternVLModel.pixel_shuffle(None, grid).reshape(12, 64)

    tile_tower("class-token-tower", InternVLVisionModel(config), units)


def siglip_tower():
    """Idefics3's tower."""
    torch.manual_seed(6)
    config = Idefics3VisionConfig(
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=20,
        image_size=8,
        patch_size=2,
    )
    config._attn_implementation = "eager"

    def units(hidden):
        x = hidden.view(3, 4, 2, 32).permute(0, 2, 1, 3).reshape(3, 2, 2, 64)
        return x.permute(0, 2, 1, 3).reshape(12, 64)

    tile_tower("siglip-tower", Idefics3VisionTransformer(config), units)


def experts():
    """A mixture of experts: two of five for a token."""
    torch.manual_seed(7)
    config = Qwen3VLMoeTextConfig(
        hidden_size=12,
        moe_intermediate_size=10,
        num_experts=5,
        num_experts_per_tok=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        rope_parameters={"rope_type": "default", "rope_theta": 1000.0, "mrope_section": [1, 1, 1]},
    )
    config._experts_implementation = "eager"
    block = Qwen3VLMoeTextSparseMoeBlock(config)
    randomise(block)
    x = torch.randn(1, 9, 12, requires_grad=True)
    y = block(x)
    seed = torch.randn_like(y)
    y.backward(seed)
    chosen = block.gate(x)[2]
    write(
        "experts",
        {
            **{f"mlp.{name}": value for name, value in block.named_parameters()},
            **{name.replace("grad.", "grad.mlp."): g for name, g in gradients(block).items()},
            "x": x[0],
            "y": y[0],
            "seed": seed[0],
            "grad.x": x.grad[0],
            "chosen": chosen,
        },
    )


def llama3_table():
    config = LlamaConfig(
        hidden_size=128,
        num_attention_heads=1,
        max_position_embeddings=131072,
        rope_parameters={
            "rope_type": "llama3",
            "rope_theta": 500000.0,
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 8192,
        },
    )
    positions = torch.tensor([0, 3, 1000, 32767])
    cos, sin = LlamaRotaryEmbedding(config)(torch.zeros(1), positions[None])
    write("llama3-table", {"positions": positions, "cos": cos[0, :, :64], "sin": sin[0, :, :64]})


WRITERS = {
    "decoder-layer": decoder_layer,
    "vision-tower": vision_tower,
    "rotary-tables": rotary_tables,
    "element-types": element_types,
    "normalized-layer": normalized_layer,
    "deepstack-tower": deepstack_tower,
    "class-token-tower": class_token_tower,
    "siglip-tower": siglip_tower,
    "experts": experts,
    "llama3-table": llama3_table,
}
for name in sys.argv[1:] or WRITERS:
    WRITERS[name]()
