"""Takes requests, checks all of them before any rank works, and carries them out in order."""

from __future__ import annotations

import hashlib
import os
import queue
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import __version__, bodies, sample_calls, score_calls, weight_calls
from .base import Base
from .blobs import Blobs
from .context import Context, Prepared
from .errors import Capacity, Draining, NotFound, UserError
from .futures import Future, Futures
from .group import Group
from .images import Images
from .learner import Recipe
from .losses import NEEDS
from .reader import Reader
from .registry import Model, Registry, Sampler
from .settings import Settings

HONORS = (
    "learning_rate",
    "beta1",
    "beta2",
    "eps",
    "weight_decay",
    "grad_clip_norm",
    "decays",
)


@dataclass(frozen=True)
class Job:
    """A request in the queue."""

    future: Future
    prepared: Prepared


class Service:
    """The server's state and its one queue. HTTP threads submit; the main thread runs."""

    def __init__(self, base: Base, settings: Settings, blobs: Blobs, images: Images) -> None:
        self.base = base
        self.settings = settings
        self.blobs = blobs
        self.incarnation = str(uuid.uuid4())
        self.futures = Futures()
        self.registry = Registry(base, settings)
        self.is_draining = False
        self._jobs: queue.Queue[Job | None] = queue.Queue()
        self._group: Group | None = None
        reader = Reader(base, blobs, images, settings.max_tokens)
        self._context = Context(base, settings, blobs, reader, self.registry, self._call)

    # The main thread.

    def run(self, group: Group, beat_seconds: float = 5.0) -> None:
        """Carries out jobs until `drain`."""
        self._group = group
        while True:
            try:
                job = self._jobs.get(timeout=beat_seconds)
            except queue.Empty:
                group.beat()
                continue
            if job is None:
                return
            try:
                result = job.prepared.act(job.future)
            except Exception as error:
                self.futures.finish(job.future, error=error)
            else:
                self.futures.finish(job.future, result)
            finally:
                job.prepared.after()

    def drain(self) -> None:
        """Takes nothing new, and ends `run` after what is queued."""
        self.is_draining = True
        self._jobs.put(None)

    def _call(self, name: str, shared: Any, per_rank: list[Any] | None = None) -> Any:
        assert self._group is not None
        return self._group.call(name, shared, per_rank)

    # Answers without a future.

    def health(self) -> dict[str, Any]:
        versions = [model.version for model in self.registry.models.values()]
        return {
            "status": "draining" if self.is_draining else "ok",
            "incarnation": self.incarnation,
            "world_size": self.settings.world,
            "version": max(versions, default=0),
            "pending": self.futures.pending,
        }

    def capabilities(self) -> dict[str, Any]:
        extensions = ["saccade/1", "binary", "forest", "blobs", "backward", "publish", "reference"]
        if self.settings.expose_gradients:
            extensions.append("gradients")
        return {
            "supported_models": [{"model_name": self.base.name}],
            "extensions": extensions,
            "optimizer": {"name": "adamw", "honors": list(HONORS)},
            "losses": list(NEEDS),
            "architecture": self.base.config.model_type,
            "vocab_size": self.base.vocab_size,
            "has_images": self.base.family.has_images,
            "has_values": self.settings.value_head,
            "max_tokens": self.settings.max_tokens,
            "dtype": self.settings.dtype,
            "world_size": self.settings.world,
            "server": f"saccade-worker/{__version__}",
        }

    def create_session(self, body: dict[str, Any]) -> dict[str, Any]:
        return {"type": "create_session", "session_id": self.registry.open_session()}

    def session_heartbeat(self, body: dict[str, Any]) -> dict[str, Any]:
        self.registry.touch(bodies.read(bodies.SessionBody, body).session_id)
        return {"type": "session_heartbeat"}

    def get_info(self, body: dict[str, Any]) -> dict[str, Any]:
        model = self.registry.model(bodies.read(bodies.ModelBody, body).model_id)
        return self.registry.describe(model)

    def create_sampling_session(self, body: dict[str, Any]) -> dict[str, Any]:
        given = bodies.read(bodies.CreateSamplingSession, body)
        self.registry.touch(given.session_id)
        if given.model_id is not None:
            sampler = Sampler(self.registry.model(given.model_id).model_id, None)
        else:
            sampler = self.registry.sampler_for(given.model_path, given.base_model)
        name = self.registry.open_sampler(sampler)
        return {"type": "create_sampling_session", "sampling_session_id": name}

    def missing_blobs(self, body: dict[str, Any]) -> dict[str, Any]:
        return {"missing": self.blobs.missing(bodies.read(bodies.Missing, body).sha256)}

    def delete_checkpoint(self, model_id: str, kind: str, name: str) -> dict[str, Any]:
        return {
            "type": "delete_checkpoint",
            "path": self.registry.delete(model_id, kind, name),
        }

    # Requests with a future.

    def create_model(self, body: dict[str, Any], digest: str) -> str:
        given = bodies.read(bodies.CreateModel, body)
        self.registry.touch(given.session_id)
        if given.base_model not in (None, self.base.name, os.path.basename(self.base.name)):
            raise UserError(
                f"This worker serves {self.base.name}, got {given.base_model}.", field="base_model"
            )
        lora = given.lora_config
        settings = self.settings
        recipe = Recipe(
            lora=None if lora is None or lora.rank == 0 else lora,
            dtype=settings.dtype,
            value_head=settings.value_head if given.value_head is None else given.value_head,
            reference=settings.reference if given.reference is None else given.reference,
            recompute=settings.recompute,
        )
        self._expect_place()
        model, silent = self.registry.open_model(given.session_id, recipe)

        def act(future: Future) -> Any:
            try:
                for model_id in silent:
                    self._call("unload", {"model": model_id})
                made = self._call("create", {"model": model.model_id, "recipe": recipe})
            except BaseException:
                self.registry.close_model(model.model_id)
                raise
            return {"type": "create_model", "model_id": model.model_id, **made}

        return self._enqueue(Prepared(act))

    def unload_model(self, body: dict[str, Any], digest: str) -> str:
        model = self.registry.model(bodies.read(bodies.ModelBody, body).model_id)
        self._expect_place()
        self.registry.close_model(model.model_id)

        def act(future: Future) -> Any:
            self._call("unload", {"model": model.model_id})
            return {"type": "unload_model", "model_id": model.model_id}

        return self._enqueue(Prepared(act))

    def forward(self, body: dict[str, Any], digest: str) -> str:
        given = bodies.read(bodies.Forward, body)
        return self._ordered(given, digest, lambda m: score_calls.forward(self._context, m, given))

    def forward_backward(self, body: dict[str, Any], digest: str) -> str:
        given = bodies.read(bodies.ForwardBackward, body)
        act = score_calls.forward_backward
        return self._ordered(given, digest, lambda m: act(self._context, m, given))

    def backward(self, body: dict[str, Any], digest: str) -> str:
        given = bodies.read(bodies.Backward, body)
        return self._ordered(given, digest, lambda m: score_calls.backward(self._context, m, given))

    def optim_step(self, body: dict[str, Any], digest: str) -> str:
        given = bodies.read(bodies.OptimStep, body)
        act = weight_calls.optim_step
        return self._ordered(given, digest, lambda m: act(self._context, m, given))

    def reset_optimizer(self, body: dict[str, Any], digest: str) -> str:
        given = bodies.read(bodies.Ordered, body)
        return self._ordered(given, digest, lambda m: self._plain(m, "reset_optimizer"))

    def checksum(self, body: dict[str, Any], digest: str) -> str:
        given = bodies.read(bodies.Ordered, body)
        return self._ordered(given, digest, lambda m: self._plain(m, "checksum"))

    def gradients(self, body: dict[str, Any], digest: str) -> str:
        if not self.settings.expose_gradients:
            raise NotFound("Gradients are shown only by a worker started with --expose-gradients.")
        given = bodies.read(bodies.Gradients, body)
        names = given.names
        return self._ordered(given, digest, lambda m: self._plain(m, "gradients", names=names))

    def save_weights(self, body: dict[str, Any], digest: str) -> str:
        return self._save(bodies.read(bodies.Save, body), digest, "weights")

    def save_weights_for_sampler(self, body: dict[str, Any], digest: str) -> str:
        return self._save(bodies.read(bodies.Save, body), digest, "sampler_weights")

    def _save(self, given: bodies.Save, digest: str, kind: str) -> str:
        act = weight_calls.save
        return self._ordered(given, digest, lambda m: act(self._context, m, given, kind))

    def load_weights(self, body: dict[str, Any], digest: str) -> str:
        given = bodies.read(bodies.Load, body)
        return self._ordered(given, digest, lambda m: weight_calls.load(self._context, m, given))

    def publish(self, body: dict[str, Any], digest: str) -> str:
        given = bodies.read(bodies.Publish, body)
        return self._ordered(given, digest, lambda m: weight_calls.publish(self._context, m, given))

    def asample(self, body: dict[str, Any], digest: str) -> str:
        given = bodies.read(bodies.Sample, body)
        registry = self.registry
        if given.sampling_session_id is None:
            sampler = registry.sampler_for(given.model_path, given.base_model)
        else:
            sampler = registry.sampler(given.sampling_session_id)
        model = registry.model(sampler.model_id)
        self._expect_place()
        return self._enqueue(sample_calls.sample(self._context, model, sampler, given))

    # The order of requests.

    def _plain(self, model: Model, name: str, **more: Any) -> Prepared:
        return Prepared(lambda future: self._call(name, {"model": model.model_id, **more}))

    def _ordered(
        self, given: bodies.Ordered, digest: str, prepare: Callable[[Model], Prepared]
    ) -> str:
        """Gives a request its place; the same bytes under the same number, the same request."""
        model = self.registry.model(given.model_id)
        with model.lock:
            replayed = model.sequence.replay(given.seq_id, digest)
            if replayed is not None:
                return replayed
            self._expect_place()
            prepared = prepare(model)
            return self._enqueue(prepared, model, given.seq_id, digest)

    def _enqueue(
        self,
        prepared: Prepared,
        model: Model | None = None,
        seq_id: int | None = None,
        digest: str = "",
    ) -> str:
        future = self.futures.open()
        prepared.accepted(future)
        if model is not None:
            model.sequence.take(seq_id, digest, future.request_id)
        self._jobs.put(Job(future, prepared))
        return future.request_id

    def _expect_place(self) -> None:
        if self.is_draining:
            raise Draining("The worker ends and takes nothing new.")
        if self.futures.pending >= self.settings.max_pending:
            raise Capacity(
                f"{self.settings.max_pending} requests are waiting. Read results first.",
                code="too-many-requests",
            )


def digest_of(raw: bytes) -> str:
    """What tells a request from another under the same number."""
    return hashlib.sha256(raw).hexdigest()
