"""Writes optimizers.json: five steps of torch's optimizers on two parameters, clipped together.

    python packages/optim/src/goldens/write-goldens.py

Made with torch 2.13, in float64 but for Muon, whose iteration torch does in bfloat16. The gradients
are 2w and 4b, as of w·w + 2·b·b.
"""

import json
import pathlib

import torch


def steps(make, max_norm, dtype=torch.float64):
    w = torch.tensor([[1.0, -2.0, 3.0], [0.5, 1.5, -1.0]], dtype=dtype, requires_grad=True)
    b = torch.tensor([0.5], dtype=dtype, requires_grad=True)
    optimizers = make(w, b)
    rows = []
    for _ in range(5):
        for optimizer in optimizers:
            optimizer.zero_grad()
        ((w * w).sum() + 2 * b @ b).backward()
        norm = torch.nn.utils.clip_grad_norm_([w, b], max_norm or float("inf"))
        for optimizer in optimizers:
            optimizer.step()
        rows.append({"gradNorm": norm.item(), "w": w.flatten().tolist(), "b": b.tolist()})
    return rows


def run(name, settings, make):
    return {"name": name, "settings": settings, "steps": steps(make, settings["maxGradNorm"])}


def adamw(decay):
    return lambda w, b: [
        torch.optim.AdamW([w, b], lr=0.1, betas=(0.9, 0.98), weight_decay=decay)
    ]


def sgd(nesterov):
    return lambda w, b: [
        torch.optim.SGD([w, b], lr=0.1, momentum=0.9, nesterov=nesterov, weight_decay=0.01)
    ]


def muon(adjust):
    return lambda w, b: [
        torch.optim.Muon([w], lr=0.1, weight_decay=0.01, adjust_lr_fn=adjust),
        torch.optim.AdamW([b], lr=0.1, betas=(0.9, 0.95), weight_decay=0.01),
    ]


clip = {"maxGradNorm": 1}
free = {"maxGradNorm": 0}
decay = {"weightDecay": 0.01}
runs = [
    run("adamw", {**clip, **decay, "beta2": 0.98}, adamw(0.01)),
    run("adamw", {**free, "weightDecay": 0, "beta2": 0.98}, adamw(0)),
    run("sgd", {**clip, **decay}, sgd(False)),
    run("sgd", {**clip, **decay, "nesterov": True}, sgd(True)),
    run("muon", {**clip, **decay, "scaling": "keller"}, muon("original")),
    run("muon", {**clip, **decay, "scaling": "moonlight"}, muon("match_rms_adamw")),
]
path = pathlib.Path(__file__).with_name("optimizers.json")
path.write_text(json.dumps(runs, indent=2) + "\n")
