"""Calls that score and differentiate, checked before any rank works."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import bodies
from .context import Context, Prepared
from .errors import Gone, UserError
from .futures import Future
from .losses import read_settings
from .reader import Batch, expect_loss_inputs, read_loss_inputs
from .registry import Model

# Forwards whose work is kept for a backward, and bytes of their images.
KEPT_FORWARDS = 64
KEPT_BYTES = 2 << 30


def forward(context: Context, model: Model, given: bodies.Forward) -> Prepared:
    """Scores of rows, kept for a backward."""
    if given.weights == "reference" and model.recipe.lora is None:
        if not model.recipe.reference:
            raise UserError(
                "This model keeps no reference weights. Create it with reference: true.",
                field="weights",
                code="no-reference",
            )
    batch, _ = _batch(context, given.forward_input, "forward_input")
    size = sum(len(context.blobs.get(one).raw) for one in set(batch.pinned))
    forget: list[str] = []
    is_kept = given.weights == "policy"
    if is_kept:
        while model.forwards and (
            len(model.forwards) >= KEPT_FORWARDS
            or sum(held for _, held in model.forwards.values()) + size > KEPT_BYTES
        ):
            forget.append(model.forwards.popitem(last=False)[0])

    def act(future: Future) -> Any:
        shared = {
            "model": model.model_id,
            "request_id": future.request_id,
            "temperature": given.temperature,
            "weights": given.weights,
            "squares": given.sum_squared_probs,
            "count": batch.count,
            "forget": forget,
        }
        work = context.reader.work(batch, context.settings.world, context.settings.row_tokens)
        return _answer(context.call("forward", shared, work), batch, None)

    def accepted(future: Future) -> None:
        if is_kept:
            model.forwards[future.request_id] = (batch.count, size)

    return Prepared(act, lambda: context.reader.release(batch), accepted)


def forward_backward(context: Context, model: Model, given: bodies.ForwardBackward) -> Prepared:
    """Scores, and the gradient of a named loss."""
    at = "forward_backward_input"
    asked = given.forward_backward_input
    if given.weights != "policy":
        raise UserError("Only the policy has a gradient.", field="weights")
    settings = read_settings(asked.loss_fn, asked.loss_fn_config)
    batch, inputs = _batch(context, asked, at)
    try:
        expect_loss_inputs(asked.loss_fn, inputs, at)
    except BaseException:
        context.reader.release(batch)
        raise

    def act(future: Future) -> Any:
        shared = {
            "model": model.model_id,
            "temperature": given.temperature,
            "squares": given.sum_squared_probs,
            "count": batch.count,
            "loss": asked.loss_fn,
            "settings": settings,
            "inputs": inputs,
        }
        work = context.reader.work(batch, context.settings.world, context.settings.row_tokens)
        made = context.call("forward_backward", shared, work)
        return _answer(made, batch, made.pop("loss"))

    return Prepared(act, lambda: context.reader.release(batch))


def backward(context: Context, model: Model, given: bodies.Backward) -> Prepared:
    """The gradient of a kept forward, from gradients of its scores."""
    known = model.forwards.get(given.data_ref)
    if known is None:
        raise Gone(
            f"Forward {given.data_ref} is not kept: it is old, or the weights have moved "
            "since. Send the forward again.",
            field="data_ref",
            code="forgotten-forward",
        )
    grads = {
        "logprobs": given.grad_logprobs,
        "entropy": given.grad_entropy,
        "values": given.grad_values,
    }
    for name, value in grads.items():
        if value is not None and len(value) != known[0]:
            raise UserError(
                f"grad_{name}: expected {known[0]} values, one a row of the forward, got "
                f"{len(value)}.",
                field=f"grad_{name}",
            )
    if given.grad_values is not None and not model.recipe.value_head:
        raise UserError(
            "This model has no value head. Create it with value_head: true.",
            field="grad_values",
            code="no-values",
        )

    def act(future: Future) -> Any:
        shared = {"model": model.model_id, "data_ref": given.data_ref, **grads}
        return context.call("backward", shared)

    return Prepared(act)


def _batch(
    context: Context, asked: bodies.ForwardInput, at: str
) -> tuple[Batch, dict[str, np.ndarray | None]]:
    if (asked.forest is None) == (asked.data is None):
        raise UserError(f"{at} must have either data or forest.", field=at)
    if asked.forest is not None:
        batch = context.reader.forest(asked.forest, f"{at}.forest")
        try:
            return batch, read_loss_inputs(
                asked.loss_fn_inputs, batch.count, f"{at}.loss_fn_inputs"
            )
        except BaseException:
            context.reader.release(batch)
            raise
    return context.reader.data(asked.data or [], at)


def _answer(made: dict[str, Any], batch: Batch, loss: float | None) -> dict[str, Any]:
    """Scores of a forest as they are, those of data one by one."""
    metrics = {} if loss is None else {"loss:sum": loss}
    if not batch.lengths:
        return {**_filled(made, batch), "metrics": metrics}
    ends = np.cumsum(batch.lengths)
    logprobs = made.get("logprobs", np.zeros(batch.count, dtype=np.float32))
    parts = np.split(logprobs, ends[:-1])
    return {
        "type": "forward_backward",
        "loss_fn_output_type": "logprobs",
        "loss_fn_outputs": [{"logprobs": part} for part in parts],
        "metrics": metrics,
        "version": made["version"],
    }


def _filled(made: dict[str, Any], batch: Batch) -> dict[str, Any]:
    """Scores of a batch without rows too."""
    empty = np.zeros(batch.count, dtype=np.float32)
    return {"logprobs": empty, "entropy": empty, **made}
