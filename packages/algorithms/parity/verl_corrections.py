"""verl's importance weights and rejection masks, from their definitions in float64 torch."""
import math

import torch

SAFETY = 20.0


def masked_mean(values, mask, dim=None):
    return (values * mask).sum(dim) / (mask.sum(dim) + 1e-8)


def importance_weights(batch, mask, level, low, high, mode, normalized):
    difference = (batch.oldLogprobs - batch.rolloutLogprobs) * mask
    if level == "token":
        weights = difference.clamp(-SAFETY, SAFETY).exp()
    else:
        total = difference.sum(-1, keepdim=True).clamp(-SAFETY, SAFETY)
        weights = total.exp().expand_as(mask)
    weights = weights * mask
    if mode == "truncate":
        weights = weights.clamp(max=high)
    else:
        weights = torch.where((weights < low) | (weights > high), 0.0, weights)
    if normalized:
        if level == "token":
            mean = masked_mean(weights, mask)
        else:
            valid = (mask.sum(-1) > 0).double()
            mean = (masked_mean(weights, mask, -1) * valid).sum() / valid.sum()
        weights = weights / mean if mean > 1e-8 else weights
    return weights


def rejection_mask(batch, mask, options, thresholds):
    """Several criteria are separated by commas; all must hold."""
    kept = mask
    names = options.split(",")
    bounds = thresholds if isinstance(thresholds, (list, tuple)) else [thresholds] * len(names)
    for option, threshold in zip(names, bounds):
        kept = kept * one_rejection_mask(batch, mask, option.strip(), threshold)
    return kept


def one_rejection_mask(batch, mask, option, threshold):
    d = (batch.oldLogprobs - batch.rolloutLogprobs).clamp(-SAFETY, SAFETY)
    kind = option[-2:]
    statistic = {"k1": -d, "k2": 0.5 * d**2, "k3": d.exp() - 1 - d}[kind]
    if "sum" in option:
        statistic = (statistic * mask).sum(-1, keepdim=True)
    elif "mean" in option:
        statistic = masked_mean(statistic, mask, -1).unsqueeze(-1)
    elif "max" in option:
        lowest = statistic.masked_fill(mask == 0, -math.inf).max(-1, keepdim=True).values
        statistic = torch.where(lowest == -math.inf, 0.0, lowest)
    if kind == "k1":
        keep = (statistic >= math.log(1 / threshold)) & (statistic <= math.log(threshold))
    else:
        keep = statistic <= threshold
    return mask * keep
