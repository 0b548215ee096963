"""The cases of the parity fixtures: what each is called here, and what gives it there."""

import verl_corrections
import verl_reference as verl
from inputs import Batch
from trl_reference import trl_result

KLS = ["k1", "k2", "abs", "k3-bounded", "k1+", "k3-bounded+"]
REJECTIONS = {
    "token-k1": 1.2,
    "token-k2": 0.02,
    "token-k3": 0.02,
    "sequence-sum-k1": 1.3,
    "sequence-sum-k2": 0.1,
    "sequence-sum-k3": 0.1,
    "sequence-mean-k1": 1.1,
    "sequence-mean-k2": 0.03,
    "sequence-mean-k3": 0.03,
    "sequence-max-k2": 0.08,
    "sequence-max-k3": 0.08,
}


def verl_case(
    name,
    settings=None,
    *,
    advantage=verl.grpo,
    loss=verl.vanilla,
    aggregation="token-mean",
    kl=None,
    entropy=0.0,
    weights=None,
    rejection=None,
    length=None,
    smallest_group=1,
    staged=False,
    label="",
):
    """Advantages, a loss per token, verl's aggregation, and its separate KL and entropy terms.

    `staged` advantages also take the correction's weights and the mask from before rejection.
    """

    def run(batch: Batch):
        mask = batch.mask
        factors = verl_corrections.importance_weights(batch, mask, **weights) if weights else None
        if rejection:
            mask = verl_corrections.rejection_mask(batch, mask, *rejection)
            if not mask.any():
                return None
        if staged:
            advantages = advantage(batch, mask, factors, batch.mask)
        else:
            advantages = advantage(batch, mask)
        if loss is verl.geo_mean_loss:
            total = loss(batch, advantages, mask, factors)
        else:
            losses = loss(batch, advantages, mask)
            if losses is None:
                return None
            losses = losses if factors is None else losses * factors
            total = verl.aggregate(losses, mask, aggregation, length)
        # These take the configured aggregation, also where the loss has its own.
        own = loss in (verl.gspo, verl.sapo, verl.geo_mean_loss)
        configured = "token-mean" if own else aggregation
        if kl:
            penalty = verl.kl_penalty(batch, kl)
            total = total + 0.1 * verl.aggregate(penalty, mask, configured, length)
        if entropy:
            total = total - entropy * verl.aggregate(batch.entropy, mask, configured, length)
        return advantages, total

    extra = {}
    if kl:
        # The profile's own estimate is left to the profile.
        extra |= {"klCoefficient": 0.1, **({} if kl == "k3-bounded" else {"kl": kl})}
    if entropy:
        extra["entropyCoefficient"] = entropy
    if weights:
        extra |= {
            "correction": weights["mode"],
            "correctionLevel": weights["level"],
            "correctionLow": weights["low"],
            "correctionHigh": weights["high"],
            "correctionNormalized": weights["normalized"],
        }
    if rejection:
        extra |= {"rejection": rejection[0]}
        if not isinstance(rejection[1], (list, tuple)):
            extra |= {"rejectionHigh": rejection[1]}
    return {
        "name": f"verl {name} {label}".rstrip(),
        "algorithm": name,
        "profile": "verl",
        "settings": {**extra, **(settings or {})},
        "even": False,
        "smallest_group": smallest_group,
        "holes": True,
        "empty": True,
        "run": run,
    }


def ppo_case():
    def run(batch: Batch):
        advantages, returns = verl.gae(batch, batch.mask, 0.95, 0.9)
        losses = verl.vanilla(batch, advantages, batch.mask)
        total = verl.aggregate(losses, batch.mask, "token-mean")
        return advantages, total + verl.value_loss(batch, returns, batch.mask)

    return verl_case("ppo", {"gamma": 0.95, "lambda": 0.9}) | {"run": run}


def weights(level, mode, low, high, normalized=False):
    return {"level": level, "mode": mode, "low": low, "high": high, "normalized": normalized}


def verl_cases():
    def with_options(loss, **options):
        return lambda batch, advantages, mask: loss(batch, advantages, mask, **options)

    def kl_in_reward(batch, mask):
        return verl.reinforce_pp(batch, mask, 1.0, 0.05)

    sequence_mean = "seq-mean-token-mean"
    yield verl_case("grpo")
    yield verl_case("grpo", kl="k3-bounded", entropy=0.01, label="with KL and entropy")
    # So wide that the clamp of log-ratios at 20 is what holds.
    unheld = with_options(verl.vanilla, c=1e12)
    yield verl_case("grpo", {"dualClip": 1e12}, loss=unheld, label="with a far dual clip")
    for ours, theirs in [
        ("sequence-mean-token-mean", sequence_mean),
        ("sequence-mean-token-sum", "seq-mean-token-sum"),
    ]:
        yield verl_case("grpo", {"aggregation": ours}, aggregation=theirs, label=ours)
        with_terms = {"aggregation": theirs, "kl": "k3-bounded", "entropy": 0.01}
        yield verl_case("grpo", {"aggregation": ours}, **with_terms, label=f"{ours}, KL, H")
    yield verl_case("dapo", {"clipHigh": 0.28}, loss=with_options(verl.vanilla, high=0.28))
    yield verl_case(
        "dr-grpo",
        {"scale": "none", "fixedLength": 12},
        advantage=verl.mean_only,
        aggregation="seq-mean-token-sum-norm",
        length=12,
    )
    yield verl_case("gspo", loss=verl.gspo, aggregation=sequence_mean, kl="k3-bounded")
    yield verl_case("gmpo", loss=verl.geo_mean_loss, entropy=0.01)
    tis = weights("token", "truncate", 0, 1.2)
    yield verl_case("gspo", loss=verl.gspo, aggregation=sequence_mean, weights=tis, label="truncated")
    yield verl_case("gmpo", loss=verl.geo_mean_loss, weights=tis, label="truncated")
    icepop = weights("token", "mask", 0.7, 1.3)
    yield verl_case("gmpo", loss=verl.geo_mean_loss, weights=icepop, label="masked")
    yield verl_case("cispo", loss=verl.cispo)
    yield verl_case("sapo", loss=verl.sapo, aggregation=sequence_mean, kl="k3-bounded")
    yield verl_case("rloo", advantage=verl.rloo)
    yield verl_case(
        "reinforce++",
        {"gamma": 0.9},
        advantage=lambda batch, mask: verl.reinforce_pp(batch, mask, 0.9),
    )
    yield verl_case(
        "reinforce++",
        {"kl": "k1", "klPlace": "reward", "klCoefficient": 0.05},
        advantage=kl_in_reward,
        label="with KL in the reward",
    )
    yield verl_case("reinforce++-baseline", advantage=verl.reinforce_pp_baseline)
    yield verl_case("opo", advantage=verl.opo)
    yield verl_case("remax", advantage=verl.remax)
    yield verl_case("gpg", advantage=verl.gpg, loss=verl.log_probability)
    yield verl_case("pass-at-k", advantage=verl.pass_at_k, smallest_group=2)
    yield verl_case("gdpo", advantage=verl.gdpo)
    yield verl_case("optimal-token-baseline", advantage=verl.optimal_token_baseline)
    for divergence in ("total-variation", "kl"):
        yield verl_case(
            "dppo",
            {"divergence": divergence},
            loss=with_options(verl.dppo, divergence=divergence),
            label=divergence,
        )
    yield verl_case("dro", loss=verl.dro)
    yield verl_case(
        "clip-cov",
        {"covarianceShare": 1, "covarianceLow": 0.05},
        loss=with_options(verl.clip_cov, low=0.05, high=5.0),
    )
    yield verl_case(
        "kl-cov", {"covarianceShare": 0.2}, loss=with_options(verl.kl_cov, share=0.2)
    )
    yield ppo_case()
    for level in ("token", "sequence"):
        for mode, low, high in [("truncate", 0, 1.2), ("mask", 0.8, 1.25)]:
            label = f"{level} weights, {mode}"
            yield verl_case("grpo", weights=weights(level, mode, low, high), label=label)
        normalized = weights(level, "truncate", 0, 1.3, True)
        yield verl_case("grpo", weights=normalized, label=f"{level} weights, normalized")
    for option, threshold in REJECTIONS.items():
        rejection = (option, threshold)
        yield verl_case("grpo", rejection=rejection, label=f"rejecting by {option}")
    rejecting = ("sequence-mean-k2", 0.03)
    yield verl_case(
        "reinforce++-baseline",
        advantage=verl.reinforce_pp_baseline,
        rejection=rejecting,
        label="rejecting",
    )
    both = verl_case(
        "grpo",
        {"rejection": "token-k1 1.2, sequence-max-k3 0.08"},
        rejection=("token-k1,sequence-max-k3", [1.2, 0.08]),
        label="rejecting by two criteria",
    )
    yield both
    yield verl_case(
        "reinforce++",
        {"gamma": 0.9, "kl": "k1", "klPlace": "reward", "klCoefficient": 0.05},
        advantage=lambda batch, mask, _, placed: verl.reinforce_pp(batch, mask, 0.9, 0.05, placed),
        rejection=("token-k1", 1.2),
        staged=True,
        label="rejecting, with KL in the reward",
    )
    yield verl_case(
        "remax",
        {"kl": "k1", "klPlace": "reward", "klCoefficient": 0.05},
        advantage=lambda batch, mask: verl.remax(batch, mask, 0.05),
        label="with KL in the reward",
    )
    for correction in (tis, weights("sequence", "truncate", 0, 2.0)):
        yield verl_case(
            "optimal-token-baseline",
            advantage=verl.optimal_token_baseline,
            weights=correction,
            rejection=("token-k2", 0.06),
            staged=True,
            label=f"{correction['level']} weights, rejecting",
        )
    for zero_tail in (False, True):
        yield verl_case(
            "optimal-token-baseline",
            {"positions": "padded", "zeroTail": zero_tail},
            advantage=lambda batch, mask, own, _, tail=zero_tail: verl.padded_token_baseline(
                batch, mask, own, tail
            ),
            weights=tis,
            staged=True,
            label=f"padded, zero tail {zero_tail}",
        )
    for ours, level in [("behavior", "token"), ("behavior-sequence", "sequence")]:
        yield verl_case(
            "bypass-reinforce",
            {"ratio": ours},
            loss=with_options(verl.bypass_reinforce, level=level),
            label=level,
        )
    for kl in KLS:
        yield verl_case("grpo", kl=kl, label=f"with {kl}")
    yield verl_case("pyvision-rl", advantage=verl.mean_only)
    yield verl_case("codedance", advantage=verl.codedance)
    wide = with_options(verl.vanilla, high=0.28, c=10.0)
    yield verl_case("codevision", {"klCoefficient": 0.1}, loss=wide, kl="k3-bounded")
    yield verl_case("tapo")
    yield verl_case("vista-r1", aggregation=sequence_mean, kl="k3-bounded")


def trl_case(algorithm, options=None, settings=None, *, kind="grpo", per_term=False, label=""):
    return {
        "name": f"TRL {algorithm} {label}".rstrip(),
        "algorithm": algorithm,
        "profile": "trl",
        "settings": settings or {},
        "even": True,
        "smallest_group": 1,
        "holes": kind != "rloo",
        # TRL's GMPO adds −A of a sequence without tokens to its loss, which has no gradient.
        "empty": kind != "gmpo",
        "run": lambda batch: trl_result(batch, kind, options or {}, per_term),
    }


def trl_cases():
    grpo = {"loss_type": "grpo"}
    yield trl_case("grpo", grpo)
    yield trl_case("grpo", {**grpo, "beta": 0.04}, {"klCoefficient": 0.04}, label="with KL")
    unweighted = {**grpo, "beta": 0.04, "use_bias_correction_kl": False}
    ours = {"klCoefficient": 0.04, "klImportance": False}
    yield trl_case("grpo", unweighted, ours, label="with KL, unweighted")
    yield trl_case("grpo", {**grpo, "delta": 3.0}, {"dualClip": 3}, label="with delta")
    for delta in (1.1, 0.9, 0.7):
        below = {**grpo, "delta": delta}
        yield trl_case("grpo", below, {"delta": delta}, label=f"with delta {delta}")
    masked = {
        **grpo,
        "off_policy_mask_threshold": 0.1,
        "use_vllm": True,
        "vllm_importance_sampling_correction": False,
    }
    yield trl_case("grpo", masked, {"offPolicyThreshold": 0.1}, label="off-policy masks")
    sampled = {**masked, "vllm_importance_sampling_correction": True, "beta": 0.04}
    ours = {"offPolicyThreshold": 0.1, "correction": "mask", "klCoefficient": 0.04}
    yield trl_case("grpo", sampled, ours, label="off-policy masks, weights and KL")
    yield trl_case("vespo", {"loss_type": "vespo"})
    for mode in ("truncate", "mask"):
        folded = {
            "loss_type": "vespo",
            "use_vllm": True,
            "vllm_importance_sampling_mode": f"token_{mode}",
            "vllm_importance_sampling_clip_min": 0.8,
            "vllm_importance_sampling_clip_max": 1.2,
        }
        ours = {"correction": mode, "correctionLow": 0.8, "correctionHigh": 1.2}
        yield trl_case("vespo", folded, ours, label=f"with weights, {mode}")
    for scale in ("none", "batch"):
        yield trl_case("grpo", {**grpo, "scale_rewards": scale}, {"scale": scale}, label=scale)
    yield trl_case("grpo", {**grpo, "entropy_coef": 0.01}, {"entropyCoefficient": 0.01}, label="H")
    top = {**grpo, "top_entropy_quantile": 0.4}
    yield trl_case("grpo", top, {"topEntropyShare": 0.4}, label="top entropy")
    yield trl_case(
        "grpo",
        {**top, "entropy_coef": 0.01, "beta": 0.04},
        {"topEntropyShare": 0.4, "entropyCoefficient": 0.01, "klCoefficient": 0.04},
        label="top entropy, H and KL",
    )
    yield trl_case("dapo", {"loss_type": "dapo"})
    clip_higher = {"loss_type": "dapo", "epsilon_high": 0.28}
    yield trl_case("dapo", clip_higher, {"clipHigh": 0.28}, label="clip-higher")
    yield trl_case("dapo", {"loss_type": "bnpo"}, label="as bnpo")
    length = {"loss_type": "dr_grpo", "max_completion_length": 12, "scale_rewards": "none"}
    yield trl_case("dr-grpo", length, {"fixedLength": 12})
    gspo = {**grpo, "importance_sampling_level": "sequence", "epsilon": 3e-4, "epsilon_high": 4e-4}
    yield trl_case("gspo", gspo)
    yield trl_case("gspo", {**gspo, "beta": 0.04}, {"klCoefficient": 0.04}, label="with KL")
    luspo = {**gspo, "loss_type": "luspo"}
    yield trl_case("gspo", luspo, {"aggregation": "sequence-mean-token-sum"}, label="as luspo")
    yield trl_case("cispo", {"loss_type": "cispo", "epsilon_high": 5.0})
    yield trl_case("sapo", {"loss_type": "sapo"})
    for level in ("token", "sequence"):
        for mode in ("truncate", "mask"):
            yield trl_case(
                "grpo",
                {
                    **grpo,
                    "use_vllm": True,
                    "vllm_importance_sampling_mode": f"{level}_{mode}",
                    "vllm_importance_sampling_clip_min": 0.8,
                    "vllm_importance_sampling_clip_max": 1.2,
                    "beta": 0.04,
                },
                {
                    "correction": mode,
                    "correctionLevel": level,
                    "correctionLow": 0.8,
                    "correctionHigh": 1.2,
                    "klCoefficient": 0.04,
                },
                label=f"{level} weights, {mode}",
            )
    default = {**grpo, "use_vllm": True}
    yield trl_case("grpo", default, {"correction": "mask"}, label="vLLM's default weights")
    several = {**grpo, "multi_objective_aggregation": "normalize_then_sum"}
    ours = {"aggregation": "sequence-mean-token-mean"}
    yield trl_case("gdpo", several, ours, per_term=True)
    yield trl_case("gmpo", kind="gmpo")
    yield trl_case("gmpo", {"beta": 0.04}, {"klCoefficient": 0.04}, kind="gmpo", label="with KL")
    yield trl_case("rloo", kind="rloo")
    free = {"beta": 0.0, "normalize_advantages": True}
    ours = {"klCoefficient": 0, "isStandardized": True}
    yield trl_case("rloo", free, ours, kind="rloo", label="normalized")


def all_cases():
    return [*verl_cases(), *trl_cases()]


