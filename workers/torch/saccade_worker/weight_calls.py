"""Calls that change, write and publish weights, checked before any rank works."""

from __future__ import annotations

import os
import shutil
import uuid
from typing import Any

from . import bodies
from .context import Context, Prepared
from .engines import Published
from .errors import Conflict, UserError
from .futures import Future
from .optimizer import settings_of
from .publish_weights import check_target, publish_to, version_directory
from .registry import NAME, Model, Sampler


def optim_step(context: Context, model: Model, given: bodies.OptimStep) -> Prepared:
    """A step of the optimizer."""
    settings = settings_of(given.adam_params, given.optimizer)
    expected = given.expected_version
    if expected is not None and model.queued_loads == 0:
        expect_version(expected, model.version + model.queued_steps)

    def act(future: Future) -> Any:
        try:
            if expected is not None:
                expect_version(expected, model.version)
            made = context.call("step", {"model": model.model_id, "settings": settings})
            model.version = made["version"]
            return {"type": "optim_step", **made}
        finally:
            model.queued_steps -= 1

    def accepted(future: Future) -> None:
        model.queued_steps += 1
        model.forwards.clear()

    return Prepared(act, accepted=accepted)


def expect_version(expected: int, version: int) -> None:
    """@raises Conflict if the weights have another version"""
    if expected != version:
        raise Conflict(
            f"The weights have version {version}, the step expects {expected}.",
            field="expected_version",
            code="stale-version",
            version=version,
        )


def save(context: Context, model: Model, given: bodies.Save, kind: str) -> Prepared:
    """A checkpoint; `sampler_weights` open a sampling session too."""
    name = given.path or f"step-{uuid.uuid4().hex[:12]}"
    if not NAME.match(name) or name.strip(".") == "":
        raise UserError(
            f'path: expected a name of letters, digits, ".", "_" and "-", got "{name}".',
            field="path",
        )
    directory = context.registry.directory(model.model_id, kind, name)

    def act(future: Future) -> Any:
        os.makedirs(os.path.dirname(directory), exist_ok=True)
        made = context.call(
            "save",
            {
                "model": model.model_id,
                "directory": directory,
                "optimizer": given.optimizer,
                "merged": given.merged,
            },
        )
        answer = {**made, "path": f"tinker://{model.model_id}/{kind}/{name}"}
        if kind == "sampler_weights":
            sampler = Sampler(model.model_id, directory)
            answer["sampling_session_id"] = context.registry.open_sampler(sampler)
        return {"type": f"save_{kind}", **answer}

    return Prepared(act)


def load(context: Context, model: Model, given: bodies.Load) -> Prepared:
    """Weights of a checkpoint."""
    directory = context.registry.resolve(given.path, model.model_id)

    def act(future: Future) -> Any:
        try:
            made = context.call(
                "load",
                {
                    "model": model.model_id,
                    "directory": directory,
                    "optimizer": given.optimizer,
                },
            )
            model.version = made["version"]
            return {"type": "load_weights", "path": given.path, **made}
        finally:
            model.queued_loads -= 1

    def accepted(future: Future) -> None:
        model.queued_loads += 1
        model.forwards.clear()

    return Prepared(act, accepted=accepted)


def publish(context: Context, model: Model, given: bodies.Publish) -> Prepared:
    """Weights to engines."""
    target = given.target
    check_target(target.kind, model.recipe.lora is not None, context.settings.uses_cuda)
    directory = target.directory or context.registry.publish_directory(model.model_id)

    def act(future: Future) -> Any:
        expect_version(given.version, model.version)
        sums = context.call("checksum", {"model": model.model_id})
        if target.kind == "nccl":
            served = context.call("send_nccl", {"model": model.model_id, "urls": target.urls})[
                "served"
            ]
            return {"type": "publish", **sums, "served": served}
        into = version_directory(directory, given.version)
        os.makedirs(directory, exist_ok=True)
        context.call(
            "save",
            {
                "model": model.model_id,
                "directory": into,
                "optimizer": False,
                "merged": target.kind != "lora",
            },
        )
        served = publish_to(target.kind, target.urls, Published(into, given.version))
        # Every engine has these: whole weights of each step would fill a disk.
        if model.published not in (None, into):
            shutil.rmtree(model.published, ignore_errors=True)
        model.published = into
        return {"type": "publish", **sums, "served": served, "directory": into}

    return Prepared(act)
