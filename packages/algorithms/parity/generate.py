"""Writes the parity fixtures: random steps, and what TRL's code and verl's formulas make of them.

    generate.py FILE [--per-case N]

Each case gets N inputs of its own (default 4). Everything runs in float64; see README.md.
"""
import argparse
import json
import logging
import os
import warnings
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
warnings.filterwarnings("ignore")

import torch  # noqa: E402

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)
logging.disable(logging.WARNING)

from cases import all_cases  # noqa: E402
from inputs import Batch, random_input  # noqa: E402


def digits(value: float) -> float:
    return float(f"{value:.13g}")


def fixture(case: dict, index: int) -> dict | None:
    """None where a case leaves nothing to compare, such as all tokens rejected, or a tie."""
    given = random_input(
        f"{case['name']} {index}",
        even=case["even"],
        holes=case["holes"],
        empty=case["empty"],
        smallest_group=case["smallest_group"],
    )
    batch = Batch(given)
    result = case["run"](batch)
    if result is None:
        return None
    advantages, loss = result
    loss.backward()
    gradients = {}
    for ours, field in [
        ("gradLogprobs", "logprobs"),
        ("gradEntropy", "entropy"),
        ("gradValues", "currentValues"),
    ]:
        grad = getattr(batch, field).grad
        if field == "logprobs" or (grad is not None and grad.any()):
            gradients[ours] = batch.flat(torch.zeros_like(batch.mask) if grad is None else grad)
    return {
        "input": given,
        "loss": digits(loss.item()),
        "advantages": batch.flat(advantages),
        **gradients,
    }


def main(path: Path, per_case: int) -> None:
    lines = []
    for case in all_cases():
        fixtures = []
        attempt = 0
        while len(fixtures) < per_case:
            one = fixture(case, attempt)
            attempt += 1
            if one is not None:
                fixtures.append(one)
        about = {key: case[key] for key in ("name", "algorithm", "profile", "settings")}
        lines.append(json.dumps({**about, "fixtures": fixtures}, separators=(",", ":")))
    path.write_text("[\n" + ",\n".join(lines) + "\n]\n")
    print(f"{len(lines)} cases, {len(lines) * per_case} fixtures, {path.stat().st_size} bytes")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("--per-case", type=int, default=4)
    arguments = parser.parse_args()
    main(arguments.file, arguments.per_case)
