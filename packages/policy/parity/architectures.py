"""The Hugging Face side of the check of architectures; `architectures.mjs` calls it once.

    architectures.py DIR

DIR/models.json lists models: a directory below DIR, whether transformers is to write its weights
first (`writes`), and cases: tokens, images, and rows, targets and weights of the log-probs whose
weighted sum is differentiated. Of every case, DIR/<model>/<case>.<type>.safetensors gets `logits`, `logprobs`, and `grad.<name>` of every
parameter; type is f32, or f64 for the same in double precision.
"""
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
                weight.normal_(0, 0.8 / weight[0].numel() ** 0.5)
            elif name.endswith("bias"):
                weight.normal_(0, 0.2)
            else:
                weight.normal_(1, 0.1)


def in_double(model):
    """The model in double precision, norms too, which transformers computes in float32."""
    model = model.double()
    for module in model.modules():
        if type(module).__name__.endswith("RMSNorm"):
            def forward(x, module=module):
                scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + module.variance_epsilon)
                return module.weight * (x * scale)

            module.forward = forward
    return model


def read_patches(directory, image):
    values = np.fromfile(directory / image["file"], dtype=np.float32)
    return torch.from_numpy(values.reshape(image["rows"], -1))


def tiles_of(patches, image):
    """Patches row by row as tiles [tiles, channels, height, width]."""
    tiles, height, width = image["grid"]
    side = int((patches.shape[1] // 3) ** 0.5)
    parts = patches.view(tiles, height, width, 3, side, side)
    return parts.permute(0, 3, 1, 4, 2, 5).reshape(tiles, 3, height * side, width * side)


def arguments(config, case, directory, dtype):
    tokens = torch.tensor([case["tokens"]])
    result = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}
    images = [(read_patches(directory, one).to(dtype), one) for one in case["images"]]
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


def run(model, case, directory, dtype):
    model.zero_grad()
    logits = model(**arguments(model.config, case, directory, dtype), use_cache=False).logits[0]
    rows, targets = torch.tensor(case["rows"]), torch.tensor(case["targets"])
    logprobs = torch.log_softmax(logits, -1)[rows, targets]
    (logprobs * torch.tensor(case["weights"], dtype=dtype)).sum().backward()
    result = {"logits": logits.detach(), "logprobs": logprobs.detach()}
    for name, parameter in model.named_parameters():
        if parameter.grad is not None:
            result[f"grad.{name}"] = parameter.grad
    return {name: value.contiguous() for name, value in result.items()}


def main(root):
    for entry in json.loads((root / "models.json").read_text()):
        directory = root / entry["directory"]
        config = AutoConfig.from_pretrained(directory)
        isText = config.model_type in ("qwen2", "qwen3")
        kind = AutoModelForCausalLM if isText else AutoModelForImageTextToText
        if entry["writes"]:
            model = kind.from_config(config)
            randomise(model)
            model.save_pretrained(directory)
        else:
            model, report = kind.from_pretrained(
                directory, dtype=torch.float32, output_loading_info=True
            )
            problems = {k: sorted(map(str, v)) for k, v in report.items() if v}
            if problems:
                sys.exit(f"transformers did not load every weight of {directory}: {problems}")
        model.eval()
        for case in entry["cases"]:
            save_file(run(model, case, directory, torch.float32), directory / f"{case['id']}.f32.safetensors")
        model = in_double(model)
        for case in entry["cases"]:
            values = run(model, case, directory, torch.float64)
            # Differences of float64 are taken against float32: its rounding is 6e-8.
            values = {name: value.float() for name, value in values.items()}
            save_file(values, directory / f"{case['id']}.f64.safetensors")


main(Path(sys.argv[1]))
