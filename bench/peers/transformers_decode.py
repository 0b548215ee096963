"""Decoding of a checkpoint's language model by transformers, one measurement per line read from stdin.

{"conversations": N, "tokens": T, "prompt": P} prints {"seconds": …, "tokens": N·(T − 1)}: the time from
the first sampled token of all to the last, greedy steps with a key-value cache. Driven by
bench/src/decode/measure-decode.ts, which takes turns with it. Needs torch and transformers.
"""
import argparse
import json
import os
import resource
import sys
import time
import warnings

os.environ.setdefault("HF_HUB_OFFLINE", "1")
warnings.filterwarnings("ignore")

parser = argparse.ArgumentParser()
parser.add_argument("directory")
parser.add_argument("--threads", type=int, default=2)
args = parser.parse_args()

protocol = os.fdopen(os.dup(1), "w")  # libraries print to stdout; keep the protocol apart from it
os.dup2(2, 1)

import torch
import transformers
from transformers import AutoModelForImageTextToText

torch.set_num_threads(args.threads)
start = time.perf_counter()
model = AutoModelForImageTextToText.from_pretrained(args.directory, dtype=torch.bfloat16)
model.eval()
load = time.perf_counter() - start


def decode(conversations: int, tokens: int, prompt: int) -> float:
    """Seconds of the steps after the first token."""
    generator = torch.Generator().manual_seed(conversations)
    ids = torch.randint(10, 200, (conversations, prompt), generator=generator)
    with torch.inference_mode():
        out = model(input_ids=ids, use_cache=True, logits_to_keep=1)
        cache, last = out.past_key_values, out.logits[:, -1].argmax(-1, keepdim=True)
        start = time.perf_counter()
        for _ in range(tokens - 1):
            out = model(input_ids=last, past_key_values=cache, use_cache=True, logits_to_keep=1)
            cache, last = out.past_key_values, out.logits[:, -1].argmax(-1, keepdim=True)
        return time.perf_counter() - start


def answer(value: dict) -> None:
    protocol.write(json.dumps(value) + "\n")
    protocol.flush()


versions = {"torch": torch.__version__, "transformers": transformers.__version__}
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
answer({"versions": versions, "loadSeconds": load, "peakBytes": peak})
for line in sys.stdin:
    ask = json.loads(line)
    seconds = decode(ask["conversations"], ask["tokens"], ask["prompt"])
    answer({"seconds": seconds, "tokens": ask["conversations"] * (ask["tokens"] - 1)})
