"""The call that samples, checked before any rank works."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from . import bodies
from .context import Context, Prepared
from .errors import UserError
from .forest import Tree
from .futures import Future
from .reader import Batch
from .registry import Model, Sampler
from .sampling import stops_of


def sample(context: Context, model: Model, sampler: Sampler, given: bodies.Sample) -> Prepared:
    """Continuations of a prompt."""
    params = given.sampling_params
    stops = stops_of(params.stop, context.base.end_tokens, context.base.tokenizer)
    batch = Batch()
    try:
        segment = context.reader.prompt(given.prompt, "prompt", batch)
        length = len(segment.tokens)
        room = context.base.most_tokens - length
        if room < 0 or (params.max_tokens or 0) > room:
            raise UserError(
                f"The prompt has {length} tokens; the model takes {context.base.most_tokens} in "
                "all.",
                field="sampling_params.max_tokens",
            )
    except BaseException:
        context.reader.release(batch)
        raise
    rows = np.arange(length - 1)
    batch.trees = [Tree((segment,), rows, segment.tokens[1:], rows)]
    limit = min(room, 4096) if params.max_tokens is None else params.max_tokens
    seed = random.getrandbits(63) if params.seed is None else params.seed & (2**64 - 1)

    def act(future: Future) -> Any:
        shared = {
            "model": model.model_id,
            "directory": sampler.directory,
            "weights": sampler.weights,
            "num_samples": given.num_samples,
            "max_tokens": limit,
            "temperature": params.temperature,
            "top_k": params.top_k,
            "top_p": params.top_p,
            "seed": seed,
            "stops": stops,
            "prompt_logprobs": bool(given.prompt_logprobs),
        }
        work = context.reader.work(batch, 1, length)[0]
        return context.call("sample", shared, [work] * context.settings.world)

    return Prepared(act, lambda: context.reader.release(batch))
