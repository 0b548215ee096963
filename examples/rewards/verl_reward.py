"""Rewards of `saccade serve rewards` for verl: custom_reward_function.path=verl_reward.py."""
import os

import aiohttp

URL = os.environ.get("SACCADE_REWARDS", "http://127.0.0.1:8700")


async def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    item = {"response": solution_str, "expected": str(ground_truth)}
    if extra_info and "question" in extra_info:
        item["question"] = str(extra_info["question"])
    async with aiohttp.ClientSession(raise_for_status=True) as session:
        async with session.post(f"{URL}/score", json={"items": [item]}) as reply:
            body = await reply.json()
    if body["rewards"][0] is None:
        raise RuntimeError(body["errors"][0])
    return body["rewards"][0]
