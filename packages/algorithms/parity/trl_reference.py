"""TRL's own code, called on given log-probs: advantages by `_generate_and_score_completions`, losses by
`_compute_loss`, of GRPOTrainer, GMPOTrainer and RLOOTrainer.

The trainers are real objects of their classes, made without a language model: what would sample,
score and run the model gives the fixture's numbers instead, in float64.
"""
from collections import defaultdict
from functools import cache

import torch
from accelerate import Accelerator
from trl import GRPOConfig, GRPOTrainer, RLOOConfig, RLOOTrainer
from trl.experimental.gmpo import GMPOConfig, GMPOTrainer

from inputs import Batch


class Model(torch.nn.Module):
    """Stands where the language model would; its log-probs are the fixture's."""

    is_gradient_checkpointing = False


class Tokenizer:
    pad_token_id = 0
    eos_token_id = 1

    def batch_decode(self, ids, **_):
        return ["" for _ in ids]


def given_numbers(base: type) -> type:
    """The trainer with sampling, scoring and the model's forward pass replaced by the fixture."""

    class Given(base):
        def __init__(self, config, batch: Batch, rewards: torch.Tensor):
            self.args = config
            self.batch = batch
            self.given_rewards = rewards
            self.model = Model()
            self.ref_model = Model()
            # A new configuration resets accelerate's state: only then may this be made.
            self.accelerator = Accelerator(cpu=True)
            self.processing_class = self._tokenizer = Tokenizer()
            self.num_generations = self.num_generations_eval = batch.groups.count(0)
            self.reward_weights = torch.ones(rewards.shape[1], dtype=torch.float64)
            self.reward_funcs = self.reward_func_names = [str(k) for k in range(rewards.shape[1])]
            self._metrics = {"train": defaultdict(list)}
            self._logs = defaultdict(list)
            self._logs["rewards"] = defaultdict(list)
            self._logs["extra"] = defaultdict(list)
            self._pending_extra_logs, self._pending_metrics = {}, {}
            self._entropy_window_stats, self._last_world_entropy = None, 0.0
            self.tools, self.environments, self.environment_factories = None, None, None
            self.pad_to_multiple_of, self.mask_truncated_completions = None, False
            self.log_multimodal = self.aux_loss_enabled = self._is_vlm = False
            self.current_gradient_accumulation_steps = 1
            self.beta = config.beta
            self.epsilon_low = config.epsilon
            high = config.epsilon_high
            self.epsilon_high = high if high is not None else config.epsilon
            names = (
                "loss_type importance_sampling_level scale_rewards multi_objective_aggregation "
                "top_entropy_quantile max_completion_length off_policy_mask_threshold use_vllm "
                "vllm_importance_sampling_correction vllm_importance_sampling_mode "
                "vllm_importance_sampling_clip_min vllm_importance_sampling_clip_max "
                "entropy_coef use_adaptive_entropy normalize_advantages reward_clip_range num_iterations"
            )
            for name in names.split():
                setattr(self, name, getattr(config, name, None))
            self._entropy_bonus_enabled = bool(self.entropy_coef) or bool(self.use_adaptive_entropy)
            self.phase = "old"

        def _generate(self, prompts):
            lengths = self.batch.lengths
            ids = [[2] * length for length in lengths]
            prompt_ids = [[2] for _ in lengths]
            if base is RLOOTrainer:
                return prompt_ids, ids, ["" for _ in lengths]
            tools = [self.batch.mask[s, :n].long().tolist() for s, n in enumerate(lengths)]
            sampled = [self.batch.rolloutLogprobs[s, :n].tolist() for s, n in enumerate(lengths)]
            if not self.use_vllm:
                sampled = None
            return prompt_ids, ids, tools, ["" for _ in lengths], sampled, {}, None, None

        def _calculate_rewards(self, *_):
            return self.given_rewards.clone()

        def _get_per_token_logps_and_entropies(self, model, *_, **__):
            if model is self.ref_model:
                return self.batch.refLogprobs, None, None
            if self.phase == "old":
                return self.batch.oldLogprobs, None, None
            return self.batch.logprobs, self.batch.entropy, None

        def run(self):
            """(advantages [S], loss)."""
            rows = [{"prompt": ""} for _ in self.batch.lengths]
            inputs = self._generate_and_score_completions(rows)
            self.phase = "now"
            return inputs["advantages"], self._compute_loss(self.model, inputs)

    return Given


def config_of(kind: str, options: dict):
    """`num_iterations: 2` makes the trainer keep the old log-probs."""
    general = {
        "output_dir": "unused",
        "report_to": "none",
        "use_cpu": True,
        "bf16": False,
        "num_iterations": 2,
        "gradient_accumulation_steps": 1,
        "steps_per_generation": 1,
        "per_device_train_batch_size": 8,
        "num_generations": 2,
    }
    kinds = {"grpo": GRPOConfig, "gmpo": GMPOConfig, "rloo": RLOOConfig}
    return kinds[kind](**{**general, **options})


@cache
def trainer_class(kind: str) -> type:
    return given_numbers({"grpo": GRPOTrainer, "gmpo": GMPOTrainer, "rloo": RLOOTrainer}[kind])


def trl_result(batch: Batch, kind: str, options: dict, per_term: bool = False):
    """(advantages [S, T], loss) of a trainer with these options of its configuration."""
    columns = [batch.accuracy, batch.rewards - batch.accuracy] if per_term else [batch.rewards]
    rewards = torch.stack(columns, dim=1).double()
    if kind == "rloo":
        batch.mask = batch.attention
    trainer = trainer_class(kind)(config_of(kind, options), batch, rewards)
    advantages, loss = trainer.run()
    return advantages.unsqueeze(-1) * batch.mask, loss
