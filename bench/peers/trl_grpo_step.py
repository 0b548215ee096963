"""TRL's GRPOTrainer on a text-only Qwen2 of given sizes, one optimizer step per line read from stdin.

Prints one JSON line per step: {"seconds": …, "tokens": …}. Driven by bench/src/grpo-step.ts, which
interleaves it with Saccade. Needs torch, transformers, trl, datasets.
"""
import argparse
import json
import os
import sys
import tempfile
import time
import warnings

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
warnings.filterwarnings("ignore")

GROUP, PROMPT_TOKENS, COMPLETION_TOKENS = 8, 64, 64

parser = argparse.ArgumentParser()
parser.add_argument("--sizes", type=json.loads, required=True, help="threads, steps, prompts, and the model's")
sizes = argparse.Namespace(**parser.parse_args().sizes)

protocol = os.fdopen(os.dup(1), "w")  # the trainer prints to stdout; keep the protocol apart from it
os.dup2(2, 1)

import torch

torch.set_num_threads(sizes.threads)
torch.manual_seed(0)

from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM, TrainerCallback
import transformers
import trl
from trl import GRPOConfig, GRPOTrainer

VOCAB = 512
words = {f"w{i}": i for i in range(VOCAB - 2)} | {"<pad>": VOCAB - 2, "<eos>": VOCAB - 1}
raw = Tokenizer(models.WordLevel(words, unk_token="w0"))
raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=raw, pad_token="<pad>", eos_token="<eos>", padding_side="left"
)

model = Qwen2ForCausalLM(
    Qwen2Config(
        vocab_size=VOCAB, hidden_size=sizes.hidden, num_hidden_layers=sizes.layers,
        num_attention_heads=sizes.heads, num_key_value_heads=sizes.kvHeads,
        intermediate_size=sizes.intermediate, max_position_embeddings=512,
        tie_word_embeddings=True, pad_token_id=VOCAB - 2, eos_token_id=VOCAB - 1, bos_token_id=None,
    )
)

generator = torch.Generator().manual_seed(1)
count = sizes.prompts * sizes.steps
prompts = torch.randint(0, VOCAB - 2, (count, PROMPT_TOKENS), generator=generator)
dataset = Dataset.from_dict({"prompt": [" ".join(f"w{t}" for t in row.tolist()) for row in prompts]})


def reward(completion_ids, **_):
    """Share of even tokens: cheap, and varies inside a group."""
    return [sum(1 for t in ids if t % 2 == 0) / max(1, len(ids)) for ids in completion_ids]


class Interleave(TrainerCallback):
    """Waits for a line before each step, reports its time after it."""

    def on_step_begin(self, *_, **__):
        line = sys.stdin.readline()
        if not line or line.strip() == "quit":
            os._exit(0)
        self.start = time.perf_counter()

    def on_step_end(self, *_, **__):
        seconds = time.perf_counter() - self.start
        tokens = sizes.prompts * GROUP * COMPLETION_TOKENS
        protocol.write(json.dumps({"seconds": seconds, "tokens": tokens}) + "\n")
        protocol.flush()


config = GRPOConfig(
    output_dir=tempfile.mkdtemp(), use_cpu=True, report_to=[], disable_tqdm=True,
    per_device_train_batch_size=sizes.prompts * GROUP, gradient_accumulation_steps=1,
    num_generations=GROUP, max_completion_length=COMPLETION_TOKENS,
    max_steps=sizes.steps, learning_rate=1e-6, beta=0.0, temperature=1.0, top_k=0,
    generation_kwargs={"min_new_tokens": COMPLETION_TOKENS},
    logging_strategy="no", save_strategy="no", dataloader_num_workers=0, bf16=False,
    gradient_checkpointing=False, shuffle_dataset=False,
)
trainer = GRPOTrainer(
    model=model, reward_funcs=reward, args=config, train_dataset=dataset,
    processing_class=tokenizer, callbacks=[Interleave()],
)
versions = {"torch": torch.__version__, "transformers": transformers.__version__, "trl": trl.__version__}
protocol.write(json.dumps({"ready": True, "versions": versions}) + "\n")
protocol.flush()
trainer.train()
