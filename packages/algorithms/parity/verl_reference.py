"""verl's advantages, losses and corrections, written from their definitions in float64 torch.

Every function works on padded [S, T] tensors, as verl does; gradients come from autograd. verl itself
cannot be installed beside a CPU-only torch, so this is a transcription of its formulas (0.10
development version of August 2026), not a call of it.
"""
import math

import torch

from inputs import Batch
from verl_corrections import SAFETY, masked_mean


def whiten(values, mask):
    mean = masked_mean(values, mask)
    count = mask.sum()
    if count < 2:
        return torch.zeros_like(values)
    variance = masked_mean((values - mean) ** 2, mask) * count / (count - 1)
    return (values - mean) * torch.rsqrt(variance + 1e-8) * mask


def aggregate(losses, mask, mode, length=None):
    """With verl's trainer, whose global batch size counts sequences without a trained token too."""
    kept = torch.where(mask > 0, losses, torch.zeros_like(losses)) * mask
    sequences = mask.shape[0]
    if mode == "token-mean":
        return kept.sum() / mask.sum()
    if mode == "seq-mean-token-sum":
        return kept.sum() / sequences
    if mode == "seq-mean-token-sum-norm":
        return kept.sum() / sequences / length
    return (kept.sum(-1) / (mask.sum(-1) + 1e-8)).sum() / sequences


# Advantages: (batch, mask) → [S, T].


def by_group(batch: Batch, mask, baseline):
    """`baseline(rewards of the group, lengths) → (mean, divisor)`; a group of one has (0, 1)."""
    result = torch.zeros_like(batch.rewards)
    for members in batch.members():
        rewards = batch.rewards[members]
        lengths = mask.sum(-1)[members]
        mean, divisor = (0.0, 1.0) if len(members) == 1 else baseline(rewards, lengths)
        result[members] = (rewards - mean) / divisor
    return result


def grpo(batch, mask, scale=True):
    advantages = torch.zeros_like(batch.rewards)
    for members in batch.members():
        rewards = batch.rewards[members]
        single = len(members) == 1
        mean = 0.0 if single else rewards.mean()
        std = 1.0 if single else rewards.std()
        advantages[members] = (rewards - mean) / (std + 1e-6) if scale else rewards - mean
    return advantages.unsqueeze(-1) * mask


def mean_only(batch, mask):
    return grpo(batch, mask, scale=False)


def gdpo(batch, mask):
    total = torch.zeros_like(batch.rewards)
    bonus = batch.rewards - batch.accuracy
    whole = batch.rewards
    for rewards in (batch.accuracy, bonus):
        batch.rewards = rewards
        total = total + grpo(batch, torch.ones_like(mask))[:, 0]
    batch.rewards = whole
    return whiten(total.unsqueeze(-1) * mask, mask)


def pass_at_k(batch, mask):
    advantages = torch.zeros_like(batch.rewards)
    for members in batch.members():
        rewards = batch.rewards[members]
        (best, second), (index, _) = torch.topk(rewards, 2)
        # torch.topk does not say which of equal rewards comes first; their lead is 0 then.
        advantages[members[index]] = (best - second) / (rewards.std() + 1e-6)
    return advantages.unsqueeze(-1) * mask


def reinforce_pp_baseline(batch, mask):
    centered = by_group(batch, mask, lambda rewards, _: (rewards.mean(), 1.0))
    return whiten(centered.unsqueeze(-1) * mask, mask)


def rloo(batch, mask):
    advantages = batch.rewards.clone()
    for members in batch.members():
        n = len(members)
        if n > 1:
            rewards = batch.rewards[members]
            advantages[members] = rewards * n / (n - 1) - rewards.mean() * n / (n - 1)
    return advantages.unsqueeze(-1) * mask


def opo(batch, mask):
    def weighted(rewards, lengths):
        return (lengths * rewards).sum() / lengths.sum().clamp(min=1e-300), 1.0

    return by_group(batch, mask, weighted).unsqueeze(-1) * mask


def last_trained(mask, s):
    return mask[s].nonzero()[-1].item() if mask[s].any() else None


def token_rewards(batch, mask, kl_coefficient=0.0):
    rewards = torch.zeros_like(mask)
    for s in range(batch.size):
        last = last_trained(mask, s)
        if last is not None:
            rewards[s, last] = batch.rewards[s]
    return rewards - kl_coefficient * (batch.oldLogprobs - batch.refLogprobs) * mask


def reinforce_pp(batch, mask, gamma=1.0, kl_coefficient=0.0, placed=None):
    rewards = token_rewards(batch, mask if placed is None else placed, kl_coefficient)
    returns = torch.zeros_like(rewards)
    running = torch.zeros(batch.size, dtype=torch.float64)
    for t in reversed(range(mask.shape[1])):
        trained = mask[:, t]
        running = trained * (rewards[:, t] + gamma * running) + (1 - trained) * running
        returns[:, t] = running * trained
    return whiten(returns, mask)


def remax(batch, mask, kl_coefficient=0.0):
    returns = (token_rewards(batch, mask, kl_coefficient) * mask).flip(-1).cumsum(-1).flip(-1)
    return returns * mask - batch.greedy.unsqueeze(-1) * mask


def gpg(batch, mask):
    alpha = batch.size / torch.count_nonzero(batch.rewards).clamp(min=1)
    return alpha * by_group(batch, mask, lambda rewards, _: (rewards.mean(), 1.0))[:, None] * mask


def gae(batch, mask, gamma, lam):
    """Also gives the returns, from before whitening."""
    rewards = token_rewards(batch, mask)
    next_value = torch.zeros(batch.size, dtype=torch.float64)
    running = torch.zeros(batch.size, dtype=torch.float64)
    columns = []
    for t in reversed(range(mask.shape[1])):
        trained = mask[:, t]
        delta = rewards[:, t] + gamma * next_value - batch.values[:, t]
        step = delta + gamma * lam * running
        next_value = batch.values[:, t] * trained + (1 - trained) * next_value
        running = step * trained + (1 - trained) * running
        columns.append(running)
    advantages = torch.stack(columns[::-1], dim=1)
    return whiten(advantages, mask), (advantages + batch.values) * mask


def optimal_token_baseline(batch, mask, weights=None, placed=None):
    rewards = token_rewards(batch, mask if placed is None else placed)
    returns = (rewards * mask).flip(-1).cumsum(-1).flip(-1)
    energies = 1 - 2 * batch.oldLogprobs.exp() + batch.sumSquaredProbs
    if weights is not None:
        energies = energies * weights**2
    cumulative = (energies * mask).cumsum(-1)
    advantages = torch.zeros_like(returns)
    for members in batch.members():
        rows = [(s, mask[s].bool()) for s in members if mask[s].any()]
        longest = max((int(m.sum()) for _, m in rows), default=0)
        compact_w = torch.zeros(len(rows), longest, dtype=torch.float64)
        compact_r = torch.zeros(len(rows), longest, dtype=torch.float64)
        for i, (s, m) in enumerate(rows):
            compact_w[i, : int(m.sum())] = cumulative[s][m]
            compact_r[i, : int(m.sum())] = returns[s][m]
        baselines = torch.zeros_like(compact_r)
        if len(rows) > 1:
            best = (compact_r * compact_w).sum(0) / (compact_w.sum(0) + 1e-8)
            baselines = best.expand_as(compact_r).clone()
            lengths = sorted((int(m.sum()) for _, m in rows), reverse=True)
            if lengths[0] > lengths[1]:
                at = [i for i, (_, m) in enumerate(rows) if int(m.sum()) == lengths[0]][0]
                baselines[at, lengths[1] :] = 0.0
        for i, (s, m) in enumerate(rows):
            advantages[s][m] = (compact_r - baselines)[i, : int(m.sum())]
    return advantages * mask


def padded_token_baseline(batch, mask, weights=None, zero_tail=False):
    """verl's `optimal_token_baseline`, whose positions are those of the padded tensor."""
    returns = (token_rewards(batch, mask) * mask).flip(-1).cumsum(-1).flip(-1)
    energies = 1 - 2 * batch.oldLogprobs.exp() + batch.sumSquaredProbs
    if weights is not None:
        energies = energies * weights**2
    cumulative = (energies * mask).cumsum(-1)
    baselines = torch.zeros_like(returns)
    for members in batch.members():
        if len(members) == 1:
            continue
        weight = cumulative[members] * mask[members]
        baselines[members] = (returns[members] * weight).sum(0) / (weight.sum(0) + 1e-8)
        if zero_tail:
            lengths = mask[members].sum(-1)
            ordered = lengths.sort(descending=True).values.long()
            if ordered[0] > ordered[1]:
                baselines[members[int(lengths.argmax())], ordered[1] :] = 0.0
    return (returns - baselines) * mask


def bypass_reinforce(batch, advantages, mask, level="token", threshold=2.0):
    difference = ((batch.logprobs - batch.rolloutLogprobs) * mask).detach()
    if level == "sequence":
        difference = difference.sum(-1, keepdim=True)
    weight = difference.clamp(-SAFETY, SAFETY).exp().clamp(max=threshold)
    return -advantages * batch.logprobs * weight


def codedance(batch, mask, discount=0.2, weight=0.2):
    """GRPO plus the turn term of CodeDance's fork of verl."""
    returns, start = [], 0
    for count in batch.given["turnCounts"]:
        own = [reward / 256 for reward in batch.given["turnRewards"][start : start + count]]
        start += count
        running = 0.0
        for k in reversed(range(count)):
            running = own[k] + discount * running
            own[k] = running
        returns.append(own)
    counted = torch.tensor([value for own in returns for value in own[:-1]], dtype=torch.float64)
    mean, std = (counted.mean(), counted.std(correction=0)) if len(counted) else (0.0, 0.0)
    result = grpo(batch, mask)
    for s, own in enumerate(returns):
        turned = [(g - mean) / std if std > 1e-8 else g for g in own[:-1]] + [0.0]
        for t in range(batch.lengths[s]):
            result[s, t] += weight * float(turned[batch.turns[s, t]]) * mask[s, t]
    return result


# Losses per token: (batch, advantages, options) → [S, T].


def ratio_of(batch, bound=SAFETY):
    return (batch.logprobs - batch.oldLogprobs).clamp(-bound, bound).exp()


def ppo_clip(ratio, advantages, low, high):
    return torch.maximum(-advantages * ratio, -advantages * ratio.clamp(1 - low, 1 + high))


def vanilla(batch, advantages, mask, low=0.2, high=0.2, c=3.0):
    clipped = ppo_clip(ratio_of(batch), advantages, low, high)
    return torch.where(advantages < 0, torch.min(-advantages * c, clipped), clipped)


def gspo(batch, advantages, mask, low=0.2, high=0.2):
    difference = batch.logprobs - batch.oldLogprobs
    length = mask.sum(-1).clamp(min=1)
    sequence = ((difference * mask).sum(-1) / length).detach().unsqueeze(-1)
    combined = (batch.logprobs - batch.logprobs.detach() + sequence).clamp(max=10.0)
    return ppo_clip(combined.exp(), advantages, low, high)


def cispo(batch, advantages, mask, low=0.2, high=0.2):
    return -ratio_of(batch).clamp(1 - low, 1 + high).detach() * advantages * batch.logprobs


def sapo(batch, advantages, mask, positive=1.0, negative=1.05):
    tau = torch.where(advantages > 0, positive, negative)
    return -advantages * torch.sigmoid(tau * (ratio_of(batch) - 1)) * 4 / tau


def log_probability(batch, advantages, mask):
    return -batch.logprobs * advantages


def dppo(batch, advantages, mask, divergence, low=0.2, high=0.2, c=3.0):
    now, old = batch.logprobs.exp(), batch.oldLogprobs.exp()
    if divergence == "total-variation":
        keep = torch.where(advantages > 0, now - old <= high, now - old >= -low)
    else:
        kl = old * (batch.oldLogprobs - batch.logprobs) + (1 - old) * torch.log(
            (1 - old + 1e-8) / (1 - now + 1e-8)
        )
        keep = torch.where(
            advantages > 0, (kl <= high) | (now <= old), (kl <= low) | (now >= old)
        )
    weight = ratio_of(batch).clamp(max=c).detach()
    return -advantages * weight * batch.logprobs * keep.detach()


def dro(batch, advantages, mask, beta=0.1):
    difference = batch.logprobs - batch.oldLogprobs
    return -(batch.logprobs * advantages - 0.5 * beta * difference**2)


def clip_cov(batch, advantages, mask, low, high):
    """With a share of 1 the draw takes every candidate, so that there is no chance in it."""
    ratio = ratio_of(batch, math.inf)
    clipped = ppo_clip(ratio, advantages, 0.2, 0.2)
    by_origin = (clipped > -advantages * ratio) & (mask > 0)
    logprobs = batch.logprobs.detach()
    cov = (advantages - masked_mean(advantages, mask)) * (logprobs - masked_mean(logprobs, mask))
    candidates = (cov > low) & (cov < high) & (mask > 0) & ~by_origin
    return torch.where(candidates, torch.zeros_like(clipped), clipped)


def kl_cov(batch, advantages, mask, share, coefficient=0.1):
    """None where two tokens tie for the last place: torch.topk does not say which it takes."""
    difference = batch.logprobs - batch.oldLogprobs
    losses = -advantages * difference.exp()
    valid = mask > 0
    a, lp = advantages[valid], batch.logprobs.detach()[valid]
    cov = torch.full_like(losses, -math.inf)
    cov[valid] = (a - a.mean()) * (lp - lp.mean())
    count = max(1, int(valid.sum() * share))
    ranked = cov[valid].sort(descending=True).values
    if count < len(ranked) and ranked[count - 1] - ranked[count] < 1e-9:
        return None
    chosen = torch.topk(cov.flatten(), count).indices
    marks = torch.zeros(losses.numel(), dtype=torch.bool)
    marks[chosen] = True
    return torch.where(
        marks.view_as(losses), losses + coefficient * difference.abs(), losses
    )


def geo_mean_loss(batch, advantages, mask, weights, low=0.2, high=0.2):
    """Already aggregated: a plain mean over the batch."""
    difference = batch.logprobs - batch.oldLogprobs
    sign = torch.sign(advantages)
    held = sign * torch.min(sign * difference, sign * difference.clamp(-low, high))
    length = mask.sum(-1) + 1e-8
    ratio = ((held * mask).sum(-1) / length).exp()
    losses = -(advantages * mask).sum(-1) / length * ratio
    if weights is not None:
        losses = losses * (((weights + 1e-10).log() * mask).sum(-1) / length).exp()
    return losses.mean()


def value_loss(batch, returns, mask, bound=0.5):
    values = batch.currentValues
    held = torch.max(torch.min(values, batch.values + bound), batch.values - bound)
    losses = torch.max((values - returns) ** 2, (held - returns) ** 2)
    return 0.5 * aggregate(losses, mask, "token-mean")


def kl_penalty(batch, name):
    difference = batch.logprobs - batch.refLogprobs
    squared = 0.5 * difference**2
    kind = name.rstrip("+")
    if kind == "k1":
        value = difference
    elif kind == "abs":
        value = difference.abs()
    elif kind == "k2":
        value = squared
    else:
        held = (-difference).clamp(-SAFETY, SAFETY)
        value = (held.exp() - held - 1).clamp(-10, 10)
    return squared - squared.detach() + value.detach() if name.endswith("+") else value
