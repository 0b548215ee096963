"""The Hugging Face side of the parity check; `check.mjs` calls it.

    reference.py read  DIR        load DIR/model, give its log-probs for DIR/inputs.json
    reference.py write DIR        make a random model, save it to DIR/model, give its log-probs

Log-probs of every vocabulary entry at every position go to DIR/logprobs-<i>.f32, pixel values of
each image to DIR/pixels-<i>-<j>.f32; `read` also renders each message with the saved chat template
and tokenizes it, to DIR/tokens-<i>.json.
"""
import json
import sys
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from transformers import AutoConfig, PreTrainedTokenizerFast, Qwen2_5_VLForConditionalGeneration

try:
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil as ImageProcessor
except ImportError:
    from transformers import Qwen2VLImageProcessor as ImageProcessor


def render(tokenizer: PreTrainedTokenizerFast, item: dict) -> list[int]:
    """Tokens of one user message, each image's placeholder as often as the image has tokens."""
    messages = [{"role": "user", "content": item["message"]}]
    text = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
    first, *rest = text.split("<|image_pad|>")
    counts = item["tokenCounts"]
    text = first + "".join("<|image_pad|>" * n + part for n, part in zip(counts, rest, strict=True))
    return tokenizer(text, add_special_tokens=False)["input_ids"]


def main(mode: str, directory: Path) -> None:
    inputs = json.loads((directory / "inputs.json").read_text())
    if mode == "read":
        model, report = Qwen2_5_VLForConditionalGeneration.from_pretrained(
            directory / "model", dtype=torch.float32, output_loading_info=True
        )
        problems = {k: sorted(v) for k, v in report.items() if v}
        if problems:
            sys.exit(f"transformers did not load every weight: {problems}")
        tokenizer = PreTrainedTokenizerFast.from_pretrained(directory / "model")
        for i, item in enumerate(inputs):
            (directory / f"tokens-{i}.json").write_text(json.dumps(render(tokenizer, item)))
    else:
        torch.manual_seed(0)
        config = AutoConfig.from_pretrained(directory / "model")
        model = Qwen2_5_VLForConditionalGeneration(config)
        with torch.no_grad():
            # Larger than the default start, so that every part of the model shows in the logits.
            for name, weight in model.named_parameters():
                if weight.dim() > 1:
                    weight.normal_(0, 0.8 / weight[0].numel() ** 0.5)
                elif name.endswith("bias"):
                    weight.normal_(0, 0.2)
                else:
                    weight.normal_(1, 0.1)
        model.save_pretrained(directory / "model")
    model.eval()
    processor = ImageProcessor.from_pretrained(directory / "model")
    for i, item in enumerate(inputs):
        tokens = torch.tensor([item["tokens"]])
        arguments = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}
        if item["images"]:
            images = [Image.open(directory / name).convert("RGB") for name in item["images"]]
            for j, image in enumerate(images):
                one = processor(images=[image], return_tensors="pt")["pixel_values"]
                one.numpy().astype(np.float32).tofile(directory / f"pixels-{i}-{j}.f32")
            pixels = processor(images=images, return_tensors="pt")
            arguments["pixel_values"] = pixels["pixel_values"].float()
            arguments["image_grid_thw"] = pixels["image_grid_thw"]
            arguments["mm_token_type_ids"] = (tokens == model.config.image_token_id).int()
        with torch.no_grad():
            logits = model(**arguments).logits[0].double()
        logprobs = torch.log_softmax(logits, -1).float().numpy()
        logprobs.tofile(directory / f"logprobs-{i}.f32")


main(sys.argv[1], Path(sys.argv[2]))
