"""The peft side of the comparison of adapters; `adapters.mjs` calls it.

    adapters.py read  DIR    opens the adapter DIR/ours on DIR/model
    adapters.py write DIR    makes an adapter on DIR/model and saves it to DIR/theirs
    adapters.py cache DIR    finds a model in the hub cache DIR without a network

The first two write the log-probs of DIR/inputs.json to DIR/logprobs.f32; `read` then takes one step
of torch's AdamW on the weighted sum of log-probs and saves the adapter again to DIR/stepped.
"""
import json
import sys
from pathlib import Path

import numpy as np
import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import Qwen2_5_VLForConditionalGeneration


def logprobs(model, directory: Path, inputs: dict) -> torch.Tensor:
    """Log-probs of every token after the first, [T - 1]."""
    tokens = torch.tensor([inputs["tokens"]])
    patches = torch.from_numpy(np.fromfile(directory / "patches.f32", dtype=np.float32))
    logits = model(
        input_ids=tokens,
        attention_mask=torch.ones_like(tokens),
        pixel_values=patches.reshape(-1, inputs["patchDim"]),
        image_grid_thw=torch.tensor([[1, inputs["gridHeight"], inputs["gridWidth"]]]),
        mm_token_type_ids=(tokens == model.config.image_token_id).int(),
    ).logits[0]
    return torch.log_softmax(logits[:-1], -1).gather(1, tokens[0, 1:, None])[:, 0]


def base(directory: Path):
    model, report = Qwen2_5_VLForConditionalGeneration.from_pretrained(
        directory / "model", dtype=torch.float32, output_loading_info=True
    )
    problems = {k: sorted(v) for k, v in report.items() if v}
    if problems:
        sys.exit(f"transformers did not load every weight: {problems}")
    return model


def main(mode: str, directory: Path) -> None:
    if mode == "cache":
        from huggingface_hub import snapshot_download

        print(snapshot_download("owner/tiny", cache_dir=directory, local_files_only=True))
        return
    inputs = json.loads((directory / "inputs.json").read_text())
    if mode == "read":
        model = PeftModel.from_pretrained(base(directory), directory / "ours", is_trainable=True)
    else:
        torch.manual_seed(0)
        config = LoraConfig(
            r=4,
            lora_alpha=12,
            use_rslora=True,
            target_modules=["q_proj", "up_proj", "qkv"],
            rank_pattern={"layers.1.self_attn.q_proj": 2},
            alpha_pattern={"up_proj": 5},
            exclude_modules=r".*visual.*up_proj",
        )
        model = get_peft_model(base(directory), config)
        with torch.no_grad():
            for name, weight in model.named_parameters():
                if "lora_B" in name:
                    weight.normal_(0, 0.1)
    scored = logprobs(model, directory, inputs)
    scored.detach().numpy().tofile(directory / "logprobs.f32")
    if mode == "write":
        model.save_pretrained(directory / "theirs")
        return
    (torch.tensor(inputs["weights"]) * scored).sum().backward()
    trained = [weight for weight in model.parameters() if weight.requires_grad]
    torch.optim.AdamW(trained, **inputs["adamw"]).step()
    model.save_pretrained(directory / "stepped")


main(sys.argv[1], Path(sys.argv[2]))
