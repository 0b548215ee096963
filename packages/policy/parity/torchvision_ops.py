"""Lets torchvision be imported beside a torch that its compiled operators were not built for.

Resizing and normalizing are torch's own operators; torchvision's compiled ones (boxes, decoders) are
not used here, but importing it fails if two of them are unknown.
"""
import importlib.util

import torch


def declare_missing_operators() -> None:
    spec = importlib.util.find_spec("torchvision")
    if spec is None:
        return
    try:
        import torchvision  # noqa: F401
    except RuntimeError:
        for name in ("nms", "qnms"):
            signature = f"torchvision::{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
            torch.library.define(signature.split("(")[0], "(" + signature.split("(", 1)[1])


declare_missing_operators()
