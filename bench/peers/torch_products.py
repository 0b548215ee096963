"""Products of PyTorch, timed one at a time for bench/src/products.ts, which interleaves them.

Reads lines `kind dtype AxBxC seconds` and answers with the mean seconds of a run, repeated for at
least `seconds`. Kinds: gemm (F.linear of [A, B] and [C, B]), gemmBoth (with its two gradients),
logprob (F.linear and cross_entropy of [A, B] and [C, B], one loss per row), logprobBoth (with both
gradients).
"""

import json
import sys
import time

import torch
import torch.nn.functional as F

torch.set_num_threads(int(sys.argv[1]))
DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}


def prepare(kind, dtype, a, b, c):
    torch.manual_seed(0)
    both = kind.endswith("Both")
    x = torch.randn(a, b).to(dtype).requires_grad_(both)
    w = (torch.randn(c, b) / b**0.5).to(dtype).requires_grad_(both)
    targets = torch.randint(0, c, (a,))
    upstream = torch.randn(a, c).to(dtype) if kind == "gemmBoth" else torch.randn(a).to(dtype)

    def run():
        y = F.linear(x, w)
        if kind.startswith("logprob"):
            y = F.cross_entropy(y, targets, reduction="none")
        if both:
            torch.autograd.grad(y, [x, w], upstream)

    return run


print(json.dumps({"torch": torch.__version__}), flush=True)
prepared = None
for line in sys.stdin:
    if line.strip() == "quit":
        break
    *case, seconds = line.split()
    if prepared is None or prepared[0] != case:
        prepared = None
        kind, dtype, dims = case
        prepared = (case, prepare(kind, DTYPES[dtype], *map(int, dims.split("x"))))
    count = 0
    start = time.perf_counter()
    while count == 0 or time.perf_counter() - start < float(seconds):
        prepared[1]()
        count += 1
    print(json.dumps({"seconds": (time.perf_counter() - start) / count}), flush=True)
