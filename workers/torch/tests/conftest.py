"""Checkpoints and models that tests share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import transformers

from .local import Local
from .served import Served
from .tiny import write_tiny

torch.set_num_threads(1)
transformers.utils.logging.disable_progress_bar()


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: Any) -> Callable[[str], str]:
    """The checkpoint of a family."""
    root = tmp_path_factory.mktemp("tiny")

    def directory(kind: str) -> str:
        path = os.path.join(root, kind)
        return path if os.path.exists(path) else write_tiny(kind, path)

    return directory


@pytest.fixture(scope="session")
def local(tiny: Callable[[str], str]) -> Callable[..., Local]:
    """A model in this process; tests that step it make their own."""
    made: dict[str, Local] = {}

    def open_local(kind: str, **recipe: Any) -> Local:
        key = f"{kind} {sorted(recipe.items(), key=str)}"
        if key not in made:
            made[key] = Local(tiny(kind), **recipe)
        made[key].clear()
        return made[key]

    return open_local


@pytest.fixture(scope="session")
def served(tiny: Callable[[str], str], tmp_path_factory: Any) -> Iterator[Served]:
    """A server in this process, with Qwen2.5-VL."""
    server = Served(tiny("qwen2_5_vl"), str(tmp_path_factory.mktemp("checkpoints")))
    yield server
    server.stop()
