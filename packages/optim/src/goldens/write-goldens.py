"""Writes adamw.json: five steps of torch.optim.AdamW on two parameters, clipped together.

    python packages/optim/src/goldens/write-goldens.py

Made with torch 2.13. The gradients are 2w and 4b, as of w·w + 2·b·b.
"""

import json
import pathlib

import torch


def steps(max_norm, weight_decay):
    w = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
    b = torch.tensor([0.5], requires_grad=True)
    optimizer = torch.optim.AdamW([w, b], lr=0.1, betas=(0.9, 0.98), weight_decay=weight_decay)
    rows = []
    for _ in range(5):
        optimizer.zero_grad()
        (w @ w + 2 * b @ b).backward()
        norm = torch.nn.utils.clip_grad_norm_([w, b], max_norm or float("inf"))
        optimizer.step()
        rows.append({"gradNorm": norm.item(), "w": w.tolist(), "b": b.tolist()})
    return {"maxGradNorm": max_norm, "weightDecay": weight_decay, "steps": rows}


path = pathlib.Path(__file__).with_name("adamw.json")
path.write_text(json.dumps([steps(1, 0.01), steps(0, 0)], indent=2) + "\n")
