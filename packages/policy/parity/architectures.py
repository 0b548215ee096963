"""The Hugging Face side of the check of architectures; `architectures.mjs` calls it once.

    architectures.py LIST

The file LIST has models: a directory, whether transformers is to write its weights first
(`writes`), and contexts: tokens, which of them stand for a part of an image, images, and rows,
targets and weights of the log-probs whose weighted sum is differentiated. Of every context,
<directory>/<context>.<type>.safetensors gets `logits`, `logprobs`, and `grad.<name>` of every
parameter; type is f32, or f64 for the same in double precision. A line on stdout follows each model.

A context that `raises` must be refused by transformers. It is then computed by the same modules,
told where the placeholders are.
"""
import contextlib
import json
import sys
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForImageTextToText

MERGED = {"qwen2_5_vl", "qwen3_vl", "qwen3_vl_moe"}
TILED = {"internvl", "idefics3", "smolvlm"}


def randomise(model):
    torch.manual_seed(0)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.dim() > 1:
                # Of experts every matrix has rows of its own.
                fan_in = weight.shape[-1] if ".experts." in name else weight[0].numel()
                weight.normal_(0, 0.8 / fan_in**0.5)
            elif name.endswith("bias"):
                weight.normal_(0, 0.2)
            else:
                weight.normal_(1, 0.1)


def in_double(model):
    """The model in double precision, norms and routers too, which transformers computes in float32."""
    model = model.double()
    for module in model.modules():
        if type(module).__name__.endswith("RMSNorm"):
            def forward(x, module=module):
                scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + module.variance_epsilon)
                return module.weight * (x * scale)

            module.forward = forward
        if type(module).__name__.endswith("Experts"):
            # What it uses otherwise has no double precision.
            module.config._experts_implementation = "eager"
        if type(module).__name__.endswith("TopKRouter"):
            def route(x, module=module):
                logits = x.reshape(-1, module.hidden_dim) @ module.weight.T
                weights, experts = torch.topk(torch.softmax(logits, -1), module.top_k, -1)
                return logits, weights / weights.sum(-1, keepdim=True), experts

            module.forward = route
    return model


def read_patches(directory, image):
    values = np.fromfile(directory / image["file"], dtype=np.float32)
    return torch.from_numpy(values.reshape(np.prod(image["grid"]), -1))


def tiles_of(patches, image):
    """Patches row by row as tiles [tiles, channels, height, width]."""
    tiles, height, width = image["grid"]
    side = int((patches.shape[1] // 3) ** 0.5)
    parts = patches.view(tiles, height, width, 3, side, side)
    return parts.permute(0, 3, 1, 4, 2, 5).reshape(tiles, 3, height * side, width * side)


def arguments(config, context, directory, dtype):
    tokens = torch.tensor([context["tokens"]])
    result = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}
    images = [(read_patches(directory, one).to(dtype), one) for one in context["images"]]
    if config.model_type in TILED and images:
        tiles = torch.cat([tiles_of(*one) for one in images])
        result["pixel_values"] = tiles if config.model_type == "internvl" else tiles[None]
    if config.model_type in MERGED:
        types = (tokens == config.image_token_id).int() + 2 * (tokens == config.video_token_id).int()
        result["mm_token_type_ids"] = types
        for kind, pixels, grids in [
            ("image", "pixel_values", "image_grid_thw"),
            ("video", "pixel_values_videos", "video_grid_thw"),
        ]:
            own = [one for one in images if one[1]["kind"] == kind]
            if own:
                result[pixels] = torch.cat([patches for patches, _ in own])
                result[grids] = torch.tensor([image["grid"] for _, image in own])
        seconds = [image["secondsPerGrid"] for _, image in images if "secondsPerGrid" in image]
        if seconds and config.model_type == "qwen2_5_vl":
            result["second_per_grid_ts"] = torch.tensor(seconds)
    return result


def positions(model, context):
    """Positions of text and images in turn, [3, 1, T], by transformers' own rule for each of them."""
    config = model.config
    merge = config.vision_config.spatial_merge_size
    places = context["isPlaceholder"]
    parts, t, start = [], 0, 0

    def text(end):
        nonlocal t, start
        parts.append(torch.arange(end - t).expand(3, -1) + start)
        start, t = start + end - t, end

    for image in context["images"]:
        moments, height, width = image["grid"]
        isVideo = image["kind"] == "video"
        step = 1
        if isVideo and config.model_type == "qwen2_5_vl":
            step = config.vision_config.tokens_per_second * image.get("secondsPerGrid", 1)
        # Qwen3-VL places every moment of a video on its own.
        isWhole = config.model_type == "qwen2_5_vl" or not isVideo
        grids = [[moments, height, width]] if isWhole else [[1, height, width]] * moments
        for grid in grids:
            text(places.index(True, t))
            own = model.model.get_vision_position_ids(start, torch.tensor(grid), 1, merge, step)
            parts.append(own)
            t += own.shape[1]
            start += max(height, width) // merge
    text(len(places))
    return torch.cat(parts, 1)[:, None]


def pointed_out(model, context, values):
    """Tells the model where the placeholders are, and gives what it is called with instead."""
    model_type = model.config.model_type
    mask = torch.tensor(context["isPlaceholder"])[None, :, None]
    if model_type in MERGED:
        tokens = values["input_ids"][..., None]
        masks = mask & (tokens == model.config.image_token_id), mask & (
            tokens == model.config.video_token_id
        )
        model.model.get_placeholder_mask = lambda *_, **__: masks
        return {**values, "position_ids": positions(model, context)}
    if model_type == "internvl":
        model.model.get_placeholder_mask = lambda *_, **__: mask
        return values

    def merge(input_ids, inputs_embeds, image_hidden_states):
        return inputs_embeds.masked_scatter(mask, image_hidden_states)

    model.model.inputs_merger = merge
    return values


def forward(model, context, values):
    if not context["raises"]:
        return model(**values, use_cache=False)
    with contextlib.suppress(ValueError, RuntimeError, IndexError):
        model(**values, use_cache=False)
        sys.exit(f"transformers computes what it should refuse: {context['name']}")
    values = pointed_out(model, context, values)
    try:
        return model(**values, use_cache=False)
    finally:
        for name in ("get_placeholder_mask", "inputs_merger"):
            vars(model.model).pop(name, None)


def run(model, context, directory, dtype):
    model.zero_grad()
    values = arguments(model.config, context, directory, dtype)
    logits = forward(model, context, values).logits[0]
    rows, targets = torch.tensor(context["rows"]), torch.tensor(context["targets"])
    logprobs = torch.log_softmax(logits, -1)[rows, targets]
    (logprobs * torch.tensor(context["weights"], dtype=dtype)).sum().backward()
    result = {"logits": logits.detach(), "logprobs": logprobs.detach()}
    for name, parameter in model.named_parameters():
        if parameter.grad is not None:
            result[f"grad.{name}"] = parameter.grad
    # Differences from float64 are taken against float32: its rounding is 6e-8.
    return {name: value.float().contiguous() for name, value in result.items()}


def load(entry, directory):
    config = AutoConfig.from_pretrained(directory)
    isText = config.model_type in ("qwen2", "qwen3")
    kind = AutoModelForCausalLM if isText else AutoModelForImageTextToText
    if entry["writes"]:
        model = kind.from_config(config)
        randomise(model)
        model.save_pretrained(directory)
        return model.eval()
    model, report = kind.from_pretrained(directory, dtype=torch.float32, output_loading_info=True)
    problems = {key: sorted(map(str, value)) for key, value in report.items() if value}
    if problems:
        sys.exit(f"transformers did not load every weight of {directory}: {problems}")
    return model.eval()


def main(path):
    # The models are thin: more threads would wait for one another.
    torch.set_num_threads(1)
    for entry in json.loads(path.read_text()):
        directory = Path(entry["directory"])
        model = load(entry, directory)
        for kind, dtype in (("f32", torch.float32), ("f64", torch.float64)):
            if dtype == torch.float64:
                model = in_double(model)
            for context in entry["contexts"]:
                values = run(model, context, directory, dtype)
                save_file(values, directory / f"{context['id']}.{kind}.safetensors")
        print(directory, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
