"""Three steps of TRL's GRPOTrainer with our rewards over HTTP, on a model made on the spot.

    saccade serve rewards &
    python examples/rewards/train_with_trl.py

Needs trl, torch and requests; downloads nothing. The model knows the ten digits and has random
weights, so about one answer in ten is right and groups have something to learn from. Exits with 1 if
a reward differs from what is right, or a step left the weights as they were.
"""
import tempfile

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer

from trl_reward import saccade_reward

STEPS = 3


def make_tokenizer():
    words = ["<pad>", "<eos>", "Say", *"0123456789"]
    raw = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="<pad>"))
    raw.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="<pad>", eos_token="<eos>")


def make_model(tokenizer):
    torch.manual_seed(0)
    shape = dict(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4)
    ids = dict(pad_token_id=tokenizer.pad_token_id, eos_token_id=tokenizer.eos_token_id)
    return LlamaForCausalLM(LlamaConfig(vocab_size=len(tokenizer), **shape, **ids))


def main():
    tokenizer = make_tokenizer()
    model = make_model(tokenizer)
    before = {name: value.clone() for name, value in model.named_parameters()}
    seen = []

    def reward(prompts, completions, answer, **rest):
        rewards = saccade_reward(prompts, completions, answer, **rest)
        seen.extend(zip(completions, answer, rewards))
        return rewards

    digits = [str(i % 10) for i in range(40)]
    data = Dataset.from_dict({"prompt": [f"Say {d}" for d in digits], "answer": digits})
    with tempfile.TemporaryDirectory() as directory:
        config = GRPOConfig(
            output_dir=directory, max_steps=STEPS, per_device_train_batch_size=32,
            num_generations=16, max_completion_length=1, learning_rate=1e-3, logging_steps=1,
            report_to=[], save_strategy="no", use_cpu=True, seed=0,
        )
        trainer = GRPOTrainer(
            model=model, reward_funcs=reward, args=config, train_dataset=data,
            processing_class=tokenizer,
        )
        trainer.train()
    steps = [entry for entry in trainer.state.log_history if "reward" in entry]
    for number, entry in enumerate(steps, 1):
        print(f"step {number}: reward {entry['reward']:.4f} loss {entry['loss']:.6f}")
    wrong = [row for row in seen if row[2] != float(row[0].strip() == row[1])]
    moved = sum(not torch.equal(before[n], p.detach().cpu()) for n, p in model.named_parameters())
    right = sum(reward for _, _, reward in seen)
    print(f"{len(seen)} rewards, {right:.0f} of them 1, {len(wrong)} not as they should be; "
          f"{moved} of {len(before)} weights moved")
    if wrong or not moved or len(steps) != STEPS:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
