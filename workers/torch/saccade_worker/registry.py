"""Models, sessions and samplers as the server knows them, and where checkpoints lie."""

from __future__ import annotations

import os
import re
import shutil
import threading
import time
import uuid
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from .base import Base
from .errors import Capacity, NotFound, UserError
from .learner import Recipe
from .sequences import Sequence
from .settings import Settings

# A controller that was silent for so long has left its model: one that lives says so every ten
# seconds, and one that comes back all the same loads its last checkpoint.
SILENT_SECONDS = 60
# What checkpoints are for: training, or sampling alone.
KINDS = ("weights", "sampler_weights")
NAME = re.compile(r"^[A-Za-z0-9._-]{1,128}$")


@dataclass
class Model:
    """What the server knows of a model without asking its ranks."""

    model_id: str
    session_id: str
    recipe: Recipe
    version: int = 0
    # Steps that are queued, and loads after which the version is known only then.
    queued_steps: int = 0
    queued_loads: int = 0
    sequence: Sequence = field(default_factory=Sequence)
    # Forwards that a backward may name, rows and bytes of each, in order.
    forwards: OrderedDict[str, tuple[int, int]] = field(default_factory=OrderedDict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    # Where weights lie that engines loaded last.
    published: str | None = None


@dataclass(frozen=True)
class Sampler:
    """A sampling session: the model and the directory whose weights it samples with."""

    model_id: str
    directory: str | None
    weights: str = "policy"


class Registry:
    """What exists. Threads of HTTP and the main thread share it."""

    def __init__(self, base: Base, settings: Settings) -> None:
        self._base = base
        self._settings = settings
        self._lock = threading.RLock()
        self.models: dict[str, Model] = {}
        self.sessions: dict[str, float] = {}
        self.samplers: dict[str, Sampler] = {}

    def open_session(self) -> str:
        session_id = uuid.uuid4().hex
        self.sessions[session_id] = time.monotonic()
        return session_id

    def open_model(self, session_id: str, recipe: Recipe) -> tuple[Model, list[str]]:
        """A new model, and those that must leave for it. @raises Capacity if there is no room"""
        with self._lock:
            silent = self._make_room()
            model = Model(f"{session_id}-{uuid.uuid4().hex[:8]}", session_id, recipe)
            self.models[model.model_id] = model
        return model, silent

    def close_model(self, model_id: str) -> None:
        with self._lock:
            self.models.pop(model_id, None)

    def open_sampler(self, sampler: Sampler) -> str:
        name = uuid.uuid4().hex
        self.samplers[name] = sampler
        return name

    def sampler(self, name: str) -> Sampler:
        """@raises NotFound if it is not known"""
        found = self.samplers.get(name)
        if found is None:
            raise NotFound(f"Sampling session {name} is not known.", field="sampling_session_id")
        return found

    def describe(self, model: Model) -> dict[str, Any]:
        """The answer of get_info."""
        lora = model.recipe.lora
        return {
            "type": "get_info",
            "model_id": model.model_id,
            "model_name": self._base.name,
            "model_data": {
                "model_name": self._base.name,
                "arch": self._base.config.model_type,
                "tokenizer_id": self._base.name,
            },
            "is_lora": lora is not None,
            "lora_rank": None if lora is None else lora.rank,
            "has_values": model.recipe.value_head,
            "has_reference": lora is not None or model.recipe.reference,
            "version": model.version,
        }

    def touch(self, session_id: str) -> None:
        if session_id not in self.sessions:
            raise NotFound(f"Session {session_id} is not known.", field="session_id")
        self.sessions[session_id] = time.monotonic()

    def model(self, model_id: str) -> Model:
        model = self.models.get(model_id)
        if model is None:
            raise NotFound(f"Model {model_id} is not known.", field="model_id")
        if model.session_id in self.sessions:
            self.sessions[model.session_id] = time.monotonic()
        return model

    def _make_room(self) -> list[str]:
        """Takes out models whose controllers left. @raises Capacity if there are none"""
        if len(self.models) < self._settings.max_models:
            return []
        now = time.monotonic()
        silent = [
            model.model_id
            for model in self.models.values()
            if now - self.sessions.get(model.session_id, 0) > SILENT_SECONDS
        ]
        if len(self.models) - len(silent) >= self._settings.max_models:
            raise Capacity(
                f"This worker holds {self._settings.max_models} models. Unload one, or start it "
                "with a larger --max-models.",
                code="models-full",
            )
        for model_id in silent:
            self.models.pop(model_id)
        return silent

    def directory(self, model_id: str, kind: str, name: str) -> str:
        return os.path.join(self._settings.checkpoints, model_id, kind, name)

    def publish_directory(self, model_id: str) -> str:
        """Where weights for engines are written, if a request names no directory."""
        return os.path.join(self._settings.checkpoints, model_id, "published")

    def resolve(self, path: str, model_id: str | None) -> str:
        """The directory of a checkpoint. @raises UserError if it is none of this worker's"""
        match = re.match(r"^tinker://([^/]+)/(weights|sampler_weights)/([^/]+)$", path)
        root = os.path.realpath(self._settings.checkpoints)
        if match:
            directory = self.directory(*match.groups())
        elif NAME.match(path) and model_id is not None:
            directory = self.directory(model_id, "weights", path)
        else:
            directory = path if os.path.isabs(path) else os.path.join(root, path)
        directory = os.path.realpath(directory)
        if os.path.commonpath([directory, root]) != root:
            raise UserError(
                f"path: expected a checkpoint below --checkpoints, got {path}.", field="path"
            )
        return directory

    def delete(self, model_id: str, kind: str, name: str) -> str:
        """Removes a checkpoint; its path. @raises NotFound if there is none"""
        path = f"tinker://{model_id}/{kind}/{name}"
        directory = self.directory(model_id, kind, name)
        is_named = all(NAME.match(one) and one.strip(".") for one in (model_id, name))
        if kind not in KINDS or not is_named or not os.path.isdir(directory):
            raise NotFound(f"There is no checkpoint {path} here.", field="path")
        # Half of a checkpoint would be a damaged one: what is left of it has another name.
        doomed = f"{directory}.deleted-{uuid.uuid4().hex[:8]}"
        os.rename(directory, doomed)
        shutil.rmtree(doomed, ignore_errors=True)
        return path

    def sampler_for(self, model_path: str | None, base_model: str | None) -> Sampler:
        if model_path is not None:
            directory = self.resolve(model_path, None)
            owner = os.path.relpath(directory, os.path.realpath(self._settings.checkpoints))
            model_id = owner.split(os.sep)[0]
            model = self.models.get(model_id) or next(iter(self.models.values()), None)
            if model is None:
                raise NotFound("Create a model before sampling from its checkpoint.")
            return Sampler(model.model_id, directory)
        model = next(iter(self.models.values()), None)
        if model is None:
            raise NotFound("Create a model before sampling; a worker samples with its weights.")
        if model.recipe.lora is not None or model.recipe.reference:
            return Sampler(model.model_id, None, "reference")
        if model.version == 0:
            return Sampler(model.model_id, None)
        return Sampler(model.model_id, self._base.directory)
