"""Other ways to write our ops in PyTorch, by the names that bench/src/gpu/gpu-rows.ts asks for.

Each makes of a task's arrays what is timed (`call`), the operands it takes, the gradients of its
outputs, and how its results become ours. What is made of the arrays beforehand, a prompt repeated
for each answer, say, costs the peer no time.
"""
import torch
import torch.nn.functional as F


class Missing(Exception):
    """PyTorch has no such op, or not in this form."""


def lineages(segments):
    """The segments of each path from a root to a segment without children."""
    parents = {parent for _, _, parent in segments}
    found = []
    for leaf in range(len(segments)):
        if leaf in parents:
            continue
        path, at = [], leaf
        while at >= 0:
            path.insert(0, at)
            at = segments[at][2]
        found.append(path)
    return found


def repeat_prefixes(segments, length):
    """[B, L] token of each place of each sequence, and whether it is the token's first place."""
    rows = []
    for path in lineages(segments.tolist()):
        pieces = [torch.arange(start, end) for start, end, _ in (segments[s].tolist() for s in path)]
        rows.append(torch.cat(pieces))
    if len({len(row) for row in rows}) != 1:
        raise Missing("has no batch of sequences of different lengths without padding")
    index = torch.stack(rows)
    is_first, seen = torch.zeros_like(index, dtype=torch.bool), torch.zeros(length, dtype=torch.bool)
    for row in range(len(rows)):
        is_first[row] = ~seen[index[row]]
        seen[index[row]] = True
    return index.to(segments.device), is_first.to(segments.device)


def sdpa(backend):
    """SDPA with one backend, every sequence with a copy of its prompt: [B, H, L, D]."""

    def recipe(i, given, dims, scalars):
        from torch.nn.attention import SDPBackend, sdpa_kernel

        causal = scalars["causal"] != 0
        if scalars.get("window", 0) != 0:
            raise Missing("is measured without a window")
        if not causal and (i["segments"][:, 2] >= 0).any():
            raise Missing("is measured causal where prompts are shared")
        chosen, scale = getattr(SDPBackend, backend), scalars["scale"] or None
        index, is_first = repeat_prefixes(i["segments"], dims["T"])
        spread = lambda x: x[index].transpose(1, 2).contiguous()
        inputs = {name: spread(i[name]) for name in ("q", "k", "v")}
        # A token's gradient of the output counts once, in its first place.
        sent = {n: spread(g) * is_first[:, None, :, None] for n, g in given.items() if n == "out"}
        if len(sent) != len(given):
            raise Missing("gives no lse to differentiate")

        def call(x):
            is_grouped = x["q"].shape[1] != x["k"].shape[1]
            with sdpa_kernel(chosen):
                return {"out": F.scaled_dot_product_attention(
                    x["q"], x["k"], x["v"], is_causal=causal, scale=scale, enable_gqa=is_grouped)}

        if dims["H"] != dims["G"]:
            try:
                with torch.no_grad():
                    call(inputs)
            except RuntimeError:
                # This backend has no groups of heads: keys and values once for each head.
                call.note = "keys and values repeated for each head"
                for name in ("k", "v"):
                    inputs[name] = inputs[name].repeat_interleave(dims["H"] // dims["G"], dim=1)

        def ours(results):
            packed = {}
            for name, tensor in results.items():
                batch, _, places, size = tensor.shape
                if name == "out":
                    first = torch.empty(dims["T"], *tensor.shape[1::2], device=tensor.device)
                    first[index[is_first]] = tensor.transpose(1, 2)[is_first].float()
                    packed[name] = first
                    continue
                heads = dims["H"] if name == "q" else dims["G"]
                tensor = tensor.float().reshape(batch, heads, -1, places, size).sum(2)
                rows = tensor.transpose(1, 2).reshape(batch * places, heads, size)
                total = torch.zeros(dims["T"], heads, size, device=tensor.device)
                packed[name] = total.index_add_(0, index.flatten(), rows)
            return packed

        return call, inputs, sent, ours

    return recipe


def flex_attention_recipe(i, given, dims, scalars):
    """FlexAttention on the packed tokens, with the mask of the segments; compiled on a device."""
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    if scalars.get("window", 0) != 0 or scalars["causal"] == 0:
        raise Missing("is measured causal and without a window")
    segments, length = i["segments"].tolist(), dims["T"]
    device = i["q"].device
    ends = torch.zeros(length, dtype=torch.int32, device=device)
    subtree = [end for _, end, _ in segments]
    for s in reversed(range(len(segments))):
        start, end, parent = segments[s]
        ends[start:end] = subtree[s]
        if parent >= 0:
            subtree[parent] = max(subtree[parent], subtree[s])
    sees = lambda b, h, q, k: (k <= q) & (q < ends[k])
    mask = create_block_mask(sees, None, None, length, length, device=device)
    attend = torch.compile(flex_attention, dynamic=False) if device.type == "cuda" else flex_attention
    heads_first = lambda x: x.transpose(0, 1).unsqueeze(0).contiguous()
    inputs = {name: heads_first(i[name]) for name in ("q", "k", "v")}
    if any(name != "out" for name in given):
        raise Missing("gives no lse to differentiate here")
    sent = {name: heads_first(gradient) for name, gradient in given.items()}
    is_grouped, scale = dims["H"] != dims["G"], scalars["scale"] or None

    def call(x):
        out = attend(x["q"], x["k"], x["v"], block_mask=mask, scale=scale, enable_gqa=is_grouped)
        return {"out": out}

    return call, inputs, sent, lambda r: {n: x[0].transpose(0, 1) for n, x in r.items()}


def log_softmax_recipe(i, given, dims, scalars):
    """Linear, log-softmax and gather, and the entropy from the same log-softmax."""
    if bool((i["targets"] < 0).any()):
        raise Missing("is measured without rows that are left out")
    targets = i["targets"].unsqueeze(1)

    def call(x):
        logits = F.linear(x["hidden"], x["weight"]).float() / scalars["temperature"]
        logprobs = F.log_softmax(logits, dim=-1)
        entropy = -(logprobs.exp() * logprobs).sum(-1)
        return {"logprobs": logprobs.gather(1, targets).squeeze(1), "entropy": entropy}

    return call, {name: i[name] for name in ("hidden", "weight")}, given, lambda r: r


def liger_recipe(i, given, dims, scalars):
    """Liger's fused linear cross-entropy. It has no entropy, and a gradient of the sum alone:
    forward and backward are timed, and their results are others than ours."""
    from liger_kernel.transformers.functional import liger_fused_linear_cross_entropy

    if scalars["temperature"] != 1:
        raise Missing("has no temperature")
    targets, inputs = i["targets"], {name: i[name] for name in ("hidden", "weight")}
    if not given:
        losses = lambda x: liger_fused_linear_cross_entropy(
            x["hidden"], x["weight"], targets, reduction="none")
        return lambda x: {"logprobs": -losses(x)}, inputs, {}, lambda r: r

    def total(x):
        loss = liger_fused_linear_cross_entropy(
            x["hidden"], x["weight"], targets, reduction="sum")
        return {"logprobs": -loss}

    return total, inputs, {"logprobs": torch.ones((), device=targets.device)}, lambda r: {}


def own_caches_recipe(i, given, dims, scalars):
    """SDPA where every row has a cache of its own, the prompt copied into each."""
    if scalars.get("window", 0) != 0:
        raise Missing("is measured without a window")
    spans, offsets = i["spans"].tolist(), i["spanOffsets"].tolist()
    rows = [torch.cat([torch.arange(*span) for span in spans[first:end]])
            for first, end in zip(offsets, offsets[1:])]
    if len({len(row) for row in rows}) != 1:
        raise Missing("has no caches of different lengths without padding")
    index = torch.stack(rows).to(i["q"].device)
    cache = lambda x: x[index].transpose(1, 2).contiguous()
    inputs = {"q": i["q"].unsqueeze(2), "k": cache(i["kCache"]), "v": cache(i["vCache"])}
    scale, is_grouped = scalars["scale"] or None, dims["H"] != dims["G"]
    call = lambda x: {"out": F.scaled_dot_product_attention(
        x["q"], x["k"], x["v"], scale=scale, enable_gqa=is_grouped)}
    return call, inputs, given, lambda r: {"out": r["out"].squeeze(2)}


VARIANTS = {
    "attention": {
        "cudnn": sdpa("CUDNN_ATTENTION"),
        "flash": sdpa("FLASH_ATTENTION"),
        "flex": flex_attention_recipe,
    },
    "attentionDecode": {"own-caches": own_caches_recipe},
    "linearLogprob": {"log-softmax": log_softmax_recipe, "liger": liger_recipe},
}
