"""Calls that tests of a server share, and what a refusal has to be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from .client import Client, RefusalError, body_of
from .local import forest_of

TOKENS = [3, 4, 5, 6]
TEXT = body_of(forest_of([(TOKENS, -1, [])], [0, 1, 2], TOKENS[1:]))
STEP = {"adam_params": {"learning_rate": 1e-2}}


def datum(weights: list[float]) -> dict[str, Any]:
    return {
        "model_input": {"chunks": [{"type": "encoded_text", "tokens": TOKENS}]},
        "loss_fn_inputs": {"target_tokens": [4, 5, 6, 7], "weights": weights},
    }


def refused(act: Any, status: int, code: str | None = None) -> dict[str, Any]:
    with pytest.raises(RefusalError) as caught:
        act()
    assert caught.value.status == status, caught.value
    if code is not None:
        assert caught.value.body["code"] == code, caught.value
    return caught.value.body


def score(client: Client) -> np.ndarray:
    return client.order("forward", {"forward_input": {"forest": TEXT}})["logprobs"]
