"""Our ops in PyTorch, timed on request: one JSON line in, one out.

Driven by bench/src/peers/torch.ts, which interleaves it with Saccade. Needs torch and numpy.
Each op is what a PyTorch user would write, or one of the variants of torch_variants.py; arrays come
as files of raw elements and stay on the device. Launches there are timed by CUDA's events.
"""
import argparse
import json
import os
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

from torch_variants import VARIANTS, Missing

parser = argparse.ArgumentParser()
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
flags = parser.parse_args()
torch.set_num_threads(flags.threads)
if flags.device == "cuda" and not torch.cuda.is_available():
    raise SystemExit(f"torch {torch.__version__} sees no CUDA device.")
DEVICE = torch.device(flags.device)


def attention(i, dims, scalars):
    """SDPA: a batch of sequences of one length, as towers with windows take; a mask for what is packed else."""
    if scalars.get("window", 0) != 0:
        raise Missing("has no sliding window")
    segments, length = i["segments"].tolist(), dims["T"]
    mask, causal, batch = None, scalars["causal"] != 0, 1
    if all(parent < 0 for _, _, parent in segments) and len({e - s for s, e, _ in segments}) == 1:
        batch = len(segments)
    else:
        mask = torch.zeros(length, length, dtype=torch.bool)
        for start, end, parent in segments:
            mask[start:end, start:end] = True
            while parent >= 0:
                first, last, parent = segments[parent]
                mask[start:end, first:last] = True
        if causal:
            mask &= torch.ones(length, length, dtype=torch.bool).tril()
    heads_first = lambda x: x.unflatten(0, (batch, -1)).transpose(1, 2)
    out = F.scaled_dot_product_attention(
        heads_first(i["q"]), heads_first(i["k"]), heads_first(i["v"]), attn_mask=mask,
        is_causal=causal and mask is None, scale=scalars["scale"] or None,
        enable_gqa=dims["H"] != dims["G"],
    )
    return {"out": out.transpose(1, 2).flatten(0, 1)}


def attention_decode(i, dims, scalars):
    """SDPA over [B, S] caches: only where every row has one span and all are of one length."""
    spans = i["spans"].tolist()
    rows, lengths = len(spans), {end - start for start, end in spans}
    own = all(start == n * (end - start) for n, (start, end) in enumerate(spans))
    if rows != dims["N"] or len(lengths) != 1 or not own:
        raise Missing("has no cache with rows of different lengths")
    if scalars.get("window", 0) != 0:
        raise Missing("has no sliding window")
    length = lengths.pop()
    cache = lambda x: x[: rows * length].view(rows, length, dims["G"], dims["D"]).transpose(1, 2)
    out = F.scaled_dot_product_attention(
        i["q"].unsqueeze(2), cache(i["kCache"]), cache(i["vCache"]),
        scale=scalars["scale"] or None, enable_gqa=dims["H"] != dims["G"],
    )
    return {"out": out.squeeze(2)}


def linear_logprob(i, dims, scalars):
    """The logits in full, then the cross-entropy; PyTorch has no entropy beside it."""
    logits = F.linear(i["hidden"], i["weight"])
    if scalars["temperature"] != 1:
        logits = logits / scalars["temperature"]
    return {"logprobs": -F.cross_entropy(logits, i["targets"], reduction="none", ignore_index=-1)}


def embedding(i, dims, scalars):
    ids, vocabulary = i["ids"], dims["V"]
    y = F.embedding(ids.clamp(max=vocabulary - 1), i["table"])
    if "extra" in i:
        spliced = ids >= vocabulary
        y = y.masked_scatter(spliced.unsqueeze(1), i["extra"][ids[spliced] - vocabulary])
    return {"y": y}


def rotary(i, dims, scalars):
    x1, x2 = i["x"].chunk(2, dim=-1)
    cos, sin = i["cos"].unsqueeze(1), i["sin"].unsqueeze(1)
    return {"y": torch.cat([x1 * cos - x2 * sin, x2 * cos + x1 * sin], dim=-1)}


def adamw_step(i, dims, s):
    if s["maxNorm"] != 0:
        raise Missing("does not clip in its fused AdamW")
    torch._fused_adamw_(
        [i["param"]], [i["grad"]], [i["m"]], [i["v"]], [], [torch.tensor(float(s["step"]))],
        lr=s["learningRate"], beta1=s["beta1"], beta2=s["beta2"], weight_decay=s["weightDecay"],
        eps=s["eps"], amsgrad=False, maximize=False,
    )
    return {"param": i["param"], "m": i["m"], "v": i["v"]}


OPS = {
    "adamwStep": adamw_step,
    "add": lambda i, dims, s: {"y": i["a"] + i["b"]},
    "attention": attention,
    "attentionDecode": attention_decode,
    "embedding": embedding,
    "gatherRows": lambda i, dims, s: {"y": i["x"].index_select(0, i["index"])},
    "gelu": lambda i, dims, s: {"y": F.gelu(i["x"])},
    "gemm": lambda i, dims, s: {"y": F.linear(i["x"], i["w"], i.get("b"))},
    "gradNorm": lambda i, dims, s: {"total": i["sum"].add_(i["grad"].square().sum())},
    "linearLogprob": linear_logprob,
    "rmsNorm": lambda i, dims, s: {"y": F.rms_norm(i["x"], i["w"].shape, i["w"], s["eps"])},
    "rotary": rotary,
    "scatterRows": lambda i, dims, s: {"into": i["into"].index_copy_(0, i["index"], i["x"])},
    "swiglu": lambda i, dims, s: {"y": F.silu(i["gate"]) * i["up"]},
}
# Inputs for which backward gives no gradient.
CONSTANTS = {"rotary": ("cos", "sin")}


def load(array, storage):
    """The array as a tensor; floats as the storage type of the task, as PyTorch's ops want it."""
    stored = {"f32": np.float32, "bf16": np.uint16, "f16": np.float16, "i32": np.int32}[array["dtype"]]
    # A copy: PyTorch must be free to write where an op works in place.
    tensor = torch.from_numpy(np.fromfile(array["path"], stored).reshape(array["shape"]))
    if array["dtype"] == "i32":
        return tensor.to(DEVICE).long()
    if array["dtype"] == "bf16":
        tensor = tensor.view(torch.bfloat16)
    storages = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
    return tensor.to(DEVICE, storages[storage])


def plain(op):
    """An op on the task's own arrays, whose results are ours."""
    return lambda i, given, dims, scalars: (lambda x: op(x, dims, scalars), i, given, lambda r: r)


def recipe_of(name, variant):
    """Makes of a task's arrays what is timed, what it takes, and how its results become ours."""
    if variant is not None:
        found = VARIANTS.get(name, {}).get(variant)
    else:
        found = plain(OPS[name]) if name in OPS else None
    if found is None:
        raise Missing("has no such op in one call")
    return found


def prepare(task):
    """A call that does the task once, one that names its results as ours, and facts about the peer."""
    inputs = {name: load(array, task["dtype"]) for name, array in task["inputs"].items()}
    given = {name: load(array, task["dtype"]) for name, array in task["gradOutputs"].items()}
    recipe = recipe_of(task["op"], task.get("variant"))
    call, inputs, given, ours = recipe(inputs, given, task["dims"], task["scalars"])
    note = getattr(call, "note", None)
    if task["pass"] == "forward":

        def forward():
            with torch.no_grad():
                return call(inputs)

        return forward, ours, note
    constants = CONSTANTS.get(task["op"], ())
    names = [n for n, x in inputs.items() if x.is_floating_point() and n not in constants]
    for name in names:
        inputs[name].requires_grad_(True)

    def differentiate(outputs, keep):
        absent = [name for name in given if name not in outputs]
        if absent:
            raise Missing(f"gives no {absent[0]} to differentiate")
        gradients = torch.autograd.grad(
            [outputs[name] for name in given], [inputs[name] for name in names],
            list(given.values()), retain_graph=keep,
        )
        return dict(zip(names, gradients))

    if task["pass"] == "both":
        return lambda: differentiate(call(inputs), keep=False), ours, note
    outputs = call(inputs)
    return lambda: differentiate(outputs, keep=True), ours, note


def save(folder, results):
    saved = {}
    for name, tensor in results.items():
        path = os.path.join(folder, f"result-{name}")
        tensor.detach().float().contiguous().cpu().numpy().tofile(path)
        saved[name] = {"path": path, "dtype": "f32", "shape": list(tensor.shape)}
    return saved


def seconds_of(run, launches):
    """Seconds of one run, of so many in a row."""
    if DEVICE.type == "cuda":
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        first.record()
        for _ in range(launches):
            run()
        last.record()
        last.synchronize()
        return first.elapsed_time(last) / 1000 / launches
    start = time.perf_counter()
    for _ in range(launches):
        run()
    return (time.perf_counter() - start) / launches


def answer(question, runs):
    if question["do"] == "time":
        return {"seconds": seconds_of(runs[question["run"]], question["launches"])}
    if question["do"] == "drop":
        del runs[question["run"]]
        if DEVICE.type == "cuda":
            torch.cuda.empty_cache()
        return {}
    try:
        run, ours, note = prepare(question)
        results = save(question["folder"], ours(run()))
    except Missing as reason:
        return {"missing": str(reason)}
    except Exception as error:
        # A backend that refuses, a device without room, a compiler that is not there: other peers
        # still can.
        lines = str(error).strip().splitlines() or [""]
        return {"missing": f"fails: {type(error).__name__}: {lines[0]}"}
    runs[question["run"]] = run
    return {"results": results, "note": note}


ready = {"version": torch.__version__}
if DEVICE.type == "cuda":
    ready["device"] = torch.cuda.get_device_name()
    ready["cuda"] = torch.version.cuda
    ready["cudnn"] = torch.backends.cudnn.version()
print(json.dumps(ready), flush=True)
runs = {}
for line in sys.stdin:
    print(json.dumps(answer(json.loads(line), runs)), flush=True)
