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


# One family of each kind is enough where minutes count; wire and order in full.
SHORT_FILES = ("test_wire.py", "test_losses.py", "test_server.py", "test_publishing.py")
SHORT_TESTS = (
    "a_forest_scores_as_one_row_per_trajectory[qwen2_5_vl]",
    "a_forest_scores_as_one_row_per_trajectory[idefics3]",
    "gradients_of_a_forest_are_those_of_its_trajectories[qwen3_vl]",
    "a_row_scores_as_the_forward_of_transformers[qwen2_5_vl]",
    "the_mask_shows",
    "cross_entropy_is_linear",
    "weights_of_zero",
    "steps_are_those_of_torch",
    "a_forward_between",
    "training_goes_on_bit_for_bit",
    "peft_opens_an_adapter_with_the_same_logits[qwen2]",
    "peft_opens_an_adapter_of_the_merger[qwen2_5_vl]",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the short run."""
    for item in items:
        is_listed = any(name in item.nodeid for name in SHORT_TESTS)
        if is_listed or item.path.name in SHORT_FILES:
            item.add_marker(pytest.mark.short)


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


@pytest.fixture
def client(served: Served) -> Iterator[Any]:
    """A model on the shared server, unloaded after the test."""
    one = served.client()
    one.create()
    yield one
    one.incarnation = None
    one.unload()
