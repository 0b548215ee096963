"""The peft side of the comparison of adapters; `adapters.mjs` calls it.

    adapters.py DIR ...

Opens the adapter DIR/ours on DIR/model, writes the log-probs of DIR/inputs.json to DIR/read.f32, takes
one step of torch's AdamW on their weighted sum, and saves the adapter again to DIR/stepped. Then makes
another adapter, with ranks and scales that differ by layer, saves it to DIR/theirs, and writes its
log-probs to DIR/write.f32.
"""
import json
import sys
from pathlib import Path

import torch
from architectures import arguments, load
from peft import LoraConfig, PeftModel, get_peft_model


def base(directory: Path):
    return load({"writes": False}, directory / "model")


def logprobs(model, directory: Path, inputs: dict) -> torch.Tensor:
    """Log-probs of every token after the first, [T - 1]."""
    values = arguments(model.config, inputs, directory, torch.float32)
    logits = model(**values, use_cache=False).logits[0]
    targets = values["input_ids"][0, 1:, None]
    return torch.log_softmax(logits[:-1], -1).gather(1, targets)[:, 0]


def written(scored: torch.Tensor, path: Path) -> None:
    scored.detach().numpy().tofile(path)


def step_ours(directory: Path, inputs: dict) -> None:
    model = PeftModel.from_pretrained(base(directory), directory / "ours", is_trainable=True)
    scored = logprobs(model, directory, inputs)
    written(scored, directory / "read.f32")
    (torch.tensor(inputs["weights"]) * scored).sum().backward()
    trained = [weight for weight in model.parameters() if weight.requires_grad]
    torch.optim.AdamW(trained, **inputs["adamw"]).step()
    model.save_pretrained(directory / "stepped")


def write_theirs(directory: Path, inputs: dict) -> None:
    torch.manual_seed(0)
    model = base(directory)
    layers = [
        name
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.Linear) and not name.endswith("lm_head")
    ]
    chosen = layers[::2]
    config = LoraConfig(
        r=4,
        lora_alpha=12,
        use_rslora=True,
        target_modules=chosen,
        rank_pattern={chosen[0]: 2, chosen[-1]: 3},
        alpha_pattern={"up_proj": 5, chosen[1]: 7},
    )
    model = get_peft_model(model, config)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "lora_B" in name:
                weight.normal_(0, 0.1)
    written(logprobs(model, directory, inputs), directory / "write.f32")
    model.save_pretrained(directory / "theirs")


def main(directories: list[Path]) -> None:
    # The models are thin: more threads would wait for one another.
    torch.set_num_threads(1)
    for directory in directories:
        inputs = json.loads((directory / "inputs.json").read_text())
        step_ours(directory, inputs)
        write_theirs(directory, inputs)


main([Path(path) for path in sys.argv[1:]])
