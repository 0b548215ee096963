"""The side of Hugging Face transformers in a comparison of a checkpoint; `saccade parity` calls it.

    parity.py DIR

DIR/inputs.json names a checkpoint, and has a conversation with its images, the tokens and patches that
Saccade made of them, and weights of the log-probs whose weighted sum is differentiated. DIR/reference.json
gets what the checkpoint's own processor makes of the conversation and the greedy tokens,
DIR/reference.safetensors the positions, the output of every block of the vision tower and the decoder,
features, log-probs and gradients. The model gets Saccade's tokens and patches, so that each part is
compared on its own.
"""
import json
import os
import re
import sys
from pathlib import Path

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
os.environ.setdefault("TQDM_DISABLE", "1")

import numpy as np
import torch
import transformers
from PIL import Image
from safetensors.torch import save_file
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
    AutoProcessor,
    GenerationConfig,
)

TEXT_ONLY = {"qwen2", "qwen3"}
TILED = {"internvl", "idefics3", "smolvlm"}
# Vision towers keep their blocks under these names.
VISION_BLOCK = re.compile(r"(^|\.)(visual|vision_tower|vision_model)\..*(blocks|layers|layer)\.(\d+)$")


def rows_of(tiles, side):
    """Tiles [n, 3, height, width] as patches row by row, [patches, 3·side²]."""
    n, channels, height, width = tiles.shape
    rows, columns = height // side, width // side
    tiles = tiles[:, :, : rows * side, : columns * side]
    parts = tiles.reshape(n, channels, rows, side, columns, side)
    return parts.permute(0, 2, 4, 1, 3, 5).reshape(-1, channels * side * side)


def tiles_of(patches, grid):
    """The inverse of `rows_of` for a grid of tiles."""
    tiles, height, width = grid
    side = int((patches.shape[1] // 3) ** 0.5)
    parts = patches.view(tiles, height, width, 3, side, side)
    return parts.permute(0, 3, 1, 4, 2, 5).reshape(tiles, 3, height * side, width * side)


def processed(inputs, directory, config):
    """Token ids and patches by the checkpoint's own processor; or why there are none."""
    try:
        processor = AutoProcessor.from_pretrained(inputs["checkpoint"])
        images = [Image.open(directory / name).convert("RGB") for name in inputs["encoded"]]
        messages = inputs["messages"]
        for part in messages[0]["content"] if images else []:
            if part["type"] == "image":
                part["image"] = images.pop(0)
        more = {"processor_kwargs": {"return_tensors": "pt"}} if inputs["encoded"] else {}
        values = processor.apply_chat_template(
            messages, add_generation_prompt=True, tokenize=True, return_dict=True, **more
        )
    except Exception as error:  # noqa: BLE001  whatever it is, it is reported
        return {"error": f"{type(error).__name__}: {error}"}, None
    ids = [int(token) for token in np.array(values["input_ids"]).reshape(-1)]
    pixels = values.get("pixel_values")
    if pixels is None:
        return {"ids": ids}, None
    if config.model_type in TILED:
        side = config.vision_config.patch_size
        side = side if isinstance(side, int) else side[0]
        pixels = rows_of(pixels.reshape(-1, *pixels.shape[-3:]), side)
    return {"ids": ids}, pixels.float().contiguous()


def arguments(config, inputs, directory, dtype):
    tokens = torch.tensor([inputs["tokens"]])
    result = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}
    if config.model_type in TEXT_ONLY:
        return result
    patches = []
    for image in inputs["images"]:
        values = np.fromfile(directory / image["file"], dtype=np.float32)
        patches.append(torch.from_numpy(values.reshape(np.prod(image["grid"]), -1)).to(dtype))
    grids = [image["grid"] for image in inputs["images"]]
    if config.model_type in TILED:
        if patches:
            tiles = torch.cat([tiles_of(*one) for one in zip(patches, grids)])
            result["pixel_values"] = tiles if config.model_type == "internvl" else tiles[None]
        return result
    result["mm_token_type_ids"] = (tokens == config.image_token_id).int()
    if patches:
        result["pixel_values"] = torch.cat(patches)
        result["image_grid_thw"] = torch.tensor(grids)
    return result


def watch(model, seen):
    """Hooks that leave what blocks and the decoder take and give in `seen`; returns their handles."""
    decoder = model.get_decoder()

    def keep(name):
        def hook(_module, _arguments, output):
            output = output[0] if isinstance(output, tuple) else output
            seen[name] = output.detach().reshape(-1, output.shape[-1]).float()

        return hook

    def keep_inputs(_module, _positional, named):
        embeddings = named.get("inputs_embeds")
        seen["embeddings"] = None if embeddings is None else embeddings.detach()[0].float()
        seen["positions"] = named.get("position_ids")
        for level, features in enumerate(named.get("deepstack_visual_embeds") or []):
            seen[f"features.{level + 1}"] = features.detach().float()

    def keep_final(_module, _arguments, output):
        seen["final"] = output.last_hidden_state.detach()[0].float()

    handles = [
        decoder.register_forward_pre_hook(keep_inputs, with_kwargs=True),
        decoder.register_forward_hook(keep_final),
    ]
    for index, layer in enumerate(decoder.layers):
        handles.append(layer.register_forward_hook(keep(f"language.{index}")))
    blocks = [one for one in model.named_modules() if VISION_BLOCK.search(one[0])]
    for index, (_, block) in enumerate(blocks):
        handles.append(block.register_forward_hook(keep(f"vision.{index}")))
    return handles


def collected(seen, inputs):
    """What the hooks saw, under the names of the comparison."""
    embeddings, positions = seen.pop("embeddings"), seen.pop("positions")
    count = len(inputs["tokens"])
    positions = torch.arange(count) if positions is None else positions
    rows = positions.reshape(-1, count)
    # Four rows begin with those of plain text.
    rows = rows[-3:] if rows.shape[0] >= 3 else rows[:1].expand(3, -1)
    result = {**seen, "positions": rows.to(torch.int32)}
    places = torch.tensor(inputs["isPlaceholder"])
    if embeddings is not None and places.any():
        result["features.0"] = embeddings[places]
    return {name: value.contiguous().clone() for name, value in result.items()}


def run(model, config, inputs, directory, dtype):
    values = arguments(config, inputs, directory, dtype)
    seen = {}
    handles = watch(model, seen)
    # The whole vocabulary at every position would not fit for long contexts of large models.
    with torch.set_grad_enabled(inputs["gradients"]):
        logits = model(**values, use_cache=False).logits[0]
        targets = torch.tensor(inputs["tokens"])[1:, None]
        logprobs = torch.log_softmax(logits[:-1].float(), -1).gather(1, targets)[:, 0]
        for handle in handles:
            handle.remove()
        result = {**collected(seen, inputs), "logprobs": logprobs.detach()}
        if inputs["gradients"]:
            (logprobs * torch.tensor(inputs["weights"])).sum().backward()
            for name, parameter in model.named_parameters():
                if parameter.grad is not None:
                    result[f"grad.{name}"] = parameter.grad.float().contiguous()
                    parameter.grad = None
    return result, values


def greedy(model, values, count):
    # The checkpoint's own settings of generation might penalize or stop.
    model.generation_config = GenerationConfig()
    wanted = GenerationConfig(
        do_sample=False, max_new_tokens=count, min_new_tokens=None, eos_token_id=None, pad_token_id=0
    )
    with torch.no_grad():
        tokens = model.generate(**values, generation_config=wanted)
    return tokens[0, values["input_ids"].shape[1] :].tolist()


def main(directory):
    inputs = json.loads((directory / "inputs.json").read_text())
    config = AutoConfig.from_pretrained(inputs["checkpoint"])
    report = {"transformers": transformers.__version__, "torch": torch.__version__}
    report["processor"], pixels = processed(inputs, directory, config)
    print("processor", flush=True)
    kind = AutoModelForCausalLM if config.model_type in TEXT_ONLY else AutoModelForImageTextToText
    dtype = getattr(torch, inputs["dtype"])
    model, loading = kind.from_pretrained(
        inputs["checkpoint"], dtype=dtype, output_loading_info=True
    )
    problems = {key: sorted(map(str, value)) for key, value in loading.items() if value}
    if problems:
        sys.exit(f"transformers did not load every weight: {problems}")
    model = model.eval()
    print("weights", flush=True)
    result, values = run(model, config, inputs, directory, dtype)
    print("model", flush=True)
    report["greedy"] = greedy(model, values, inputs["greedyTokens"])
    print("greedy tokens", flush=True)
    if pixels is not None:
        result["pixels"] = pixels
    save_file(result, directory / "reference.safetensors")
    (directory / "reference.json").write_text(json.dumps(report))


main(Path(sys.argv[1]))
