"""Rewards of `saccade serve rewards` for TRL's GRPOTrainer(reward_funcs=saccade_reward)."""
import os

import requests

URL = os.environ.get("SACCADE_REWARDS", "http://127.0.0.1:8700")


def saccade_reward(prompts, completions, answer, **_):
    """One number per completion; None, which TRL leaves out, where it could not be scored."""
    text = lambda one: one if isinstance(one, str) else one[-1]["content"]
    rows = zip(completions, prompts, answer)
    items = [{"response": text(c), "question": text(p), "expected": str(a)} for c, p, a in rows]
    reply = requests.post(f"{URL}/score", json={"items": items}, timeout=180)
    reply.raise_for_status()
    return reply.json()["rewards"]
