"""Tells engines to load weights, and asks them which version they serve."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any

from .errors import ServerFault

# An engine that loads a large checkpoint from a shared disk takes minutes.
TIMEOUT_SECONDS = 900
LORA_NAME = "saccade"
RESUME_TRIES = 10
# Holds the token of engines that ask for one.
TOKEN_VARIABLE = "SACCADE_ENGINE_TOKEN"


@dataclass(frozen=True)
class Published:
    """Weights in a directory that engines see."""

    directory: str
    version: int


def publish_lora(url: str, weights: Published) -> str | None:
    """vLLM: replaces the adapter `saccade` in place; the version that it lists then."""
    _post(
        url,
        "/v1/load_lora_adapter",
        {"lora_name": LORA_NAME, "lora_path": weights.directory, "load_inplace": True},
    )
    listed = _get(url, "/v1/models")
    for model in listed.get("data", []) if isinstance(listed, dict) else []:
        if model.get("id") == LORA_NAME:
            root = str(model.get("root", ""))
            return str(weights.version) if root in ("", weights.directory) else None
    raise ServerFault(
        f"{url} took the adapter but does not list it. Start vLLM with --enable-lora and "
        "VLLM_ALLOW_RUNTIME_LORA_UPDATING=1.",
        code="engine",
    )


def publish_disk(url: str, weights: Published) -> str | None:
    """vLLM in its development mode: pauses, reloads the directory, drops caches, goes on."""
    try:
        _post(url, "/pause?mode=wait", {})
        call = {"method": "reload_weights", "kwargs": {"weights_path": weights.directory}}
        _post(url, "/collective_rpc", call)
        _post(url, "/reset_prefix_cache", {})
        _post(url, "/reset_mm_cache", {}, optional=True)
        # The last step: an engine that names the new weights has nothing of those before.
        stamp_version(url, weights.version)
        _expect_paused(url)
    except ServerFault:
        # What failed first is told, whether or not the engine goes on.
        with contextlib.suppress(ServerFault):
            _resume(url)
        raise
    _resume(url)
    return served_version(url)


def _expect_paused(url: str) -> None:
    """Another process that goes on by itself has only some of the weights."""
    found = _get(url, "/is_paused", optional=True)
    if isinstance(found, dict) and found.get("is_paused") is False:
        raise ServerFault(f"{url} was started again while it loaded weights.", code="engine-lost")


def _resume(url: str) -> None:
    """An engine never told to go on would answer nobody: a lost answer is asked for again."""
    for left in reversed(range(RESUME_TRIES)):
        try:
            _post(url, "/resume", {})
            return
        except ServerFault:
            if left == 0:
                raise
            time.sleep(0.2)


def publish_sglang(url: str, weights: Published) -> str | None:
    """SGLang: waits for running requests, loads the directory, drops the cache."""
    answer = _post(
        url,
        "/update_weights_from_disk",
        {
            "model_path": weights.directory,
            "weight_version": str(weights.version),
            "flush_cache": True,
        },
    )
    if not isinstance(answer, dict) or answer.get("success") is not True:
        message = answer.get("message") if isinstance(answer, dict) else answer
        raise ServerFault(
            f"{url} did not load {weights.directory}: {message}. It must see the directory under "
            "this path.",
            code="engine",
        )
    found = _get(url, "/get_weight_version", optional=True)
    if found is None:
        found = _get(url, "/get_model_info", optional=True)
    version = found.get("weight_version") if isinstance(found, dict) else None
    return None if version is None else str(version)


def stamp_version(url: str, version: int) -> None:
    """Names the weights of a vLLM; versions without the route are left unnamed."""
    _post(url, "/update_weight_version", {"new_version": str(version)}, optional=True)


def served_version(url: str) -> str | None:
    """The version a vLLM says it serves, where it says one."""
    found = _get(url, "/weight_info", optional=True)
    version = found.get("weight_version", found.get("version")) if isinstance(found, dict) else None
    return None if version is None else str(version)


def world_size(url: str) -> int:
    """Processes of a vLLM that take part in a broadcast."""
    found = _get(url, "/get_world_size")
    size = found.get("world_size") if isinstance(found, dict) else found
    if not isinstance(size, int):
        raise ServerFault(f"{url}/get_world_size gave no number.", code="engine")
    return size


def _get(url: str, path: str, optional: bool = False) -> Any:
    return _send(url, path, None, optional)


def _post(url: str, path: str, body: dict[str, Any], optional: bool = False) -> Any:
    return _send(url, path, json.dumps(body).encode(), optional)


def _send(url: str, path: str, data: bytes | None, optional: bool) -> Any:
    address = f"{url.rstrip('/')}{path}"
    headers = {"content-type": "application/json"}
    token = os.environ.get(TOKEN_VARIABLE)
    if token:
        headers["authorization"] = f"Bearer {token}"
    request = urllib.request.Request(address, data=data, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
            text = answer.read()
    except urllib.error.HTTPError as error:
        if optional and error.code in (404, 405):
            return None
        detail = error.read(2000).decode(errors="replace")
        raise ServerFault(f"{address} answered {error.code}: {detail}", code="engine") from error
    except (OSError, http.client.HTTPException) as error:
        raise ServerFault(f"{address} does not answer: {error}.", code="engine-lost") from error
    try:
        return json.loads(text)
    except ValueError:
        return text.decode(errors="replace")
