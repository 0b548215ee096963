"""Publishing to engines: an imitation of vLLM and SGLang records what it is asked."""

from __future__ import annotations

import json
import os
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, ClassVar

import pytest

from saccade_worker import engines
from saccade_worker.errors import ServerFault

from .calls import STEP, datum, refused, score


class Engine(BaseHTTPRequestHandler):
    """As much of vLLM and SGLang as publishing asks of them."""

    calls: ClassVar[list[tuple[str, Any]]] = []
    tokens: ClassVar[set[str | None]] = set()
    fails: ClassVar[str] = ""
    is_paused: ClassVar[bool] = True

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["content-length"]))
        self.tokens.add(self.headers["authorization"])
        self.calls.append((self.path, json.loads(raw)))
        self._answer({"success": True}, 500 if self.path == self.fails else 200)

    def do_GET(self) -> None:
        version = [b["new_version"] for p, b in self.calls if p == "/update_weight_version"]
        version += [b["weight_version"] for p, b in self.calls if "update_weights" in p]
        loaded = [b["lora_path"] for p, b in self.calls if p == "/v1/load_lora_adapter"]
        models = [{"id": "saccade", "root": path} for path in loaded[-1:]]
        known = {
            "/weight_info": {"weight_version": version[-1] if version else None},
            "/get_weight_version": {"weight_version": version[-1] if version else None},
            "/v1/models": {"data": models},
            "/is_paused": {"is_paused": self.is_paused},
        }
        self._answer(known.get(self.path, {}), 200)

    def _answer(self, body: Any, status: int) -> None:
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_: Any) -> None:
        return


@pytest.fixture
def engine():
    server = HTTPServer(("127.0.0.1", 0), Engine)
    Engine.calls, Engine.fails, Engine.is_paused = [], "", True
    Engine.tokens.clear()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.mark.parametrize("kind", ["disk", "sglang-disk", "lora"])
def test_an_engine_says_which_version_it_serves(served, engine, kind):
    client = served.client()
    client.create({"rank": 2} if kind == "lora" else None)
    client.order("forward_backward", {"forward_backward_input": {"data": [datum([1] * 4)]}})
    client.order("optim_step", STEP)
    target = {"kind": kind, "urls": [engine]}
    refused(lambda: client.order("publish", {"target": target, "version": 0}), 0, "stale-version")
    made = client.order("publish", {"target": target, "version": 1})
    assert made["served"] == [{"url": engine, "version": "1"}]
    assert made["checksum"] == client.order("checksum")["checksum"]
    client.order("publish", {"target": target, "version": 1})
    client.order("forward_backward", {"forward_backward_input": {"data": [datum([1] * 4)]}})
    client.order("optim_step", STEP)
    client.order("publish", {"target": target, "version": 2})
    # What engines have loaded in place of it takes no room.
    published = os.path.join(served.checkpoints, client.model_id, "published")
    assert os.listdir(published) == ["version-00000002"]
    paths = [path for path, _ in Engine.calls]
    if kind == "disk":
        assert paths[0] == "/pause?mode=wait"
        # Named last: an engine that names new weights has them, and no keys of those before.
        assert paths[-2:] == ["/update_weight_version", "/resume"]
        assert paths.index("/collective_rpc") < paths.index("/reset_prefix_cache")
    client.unload()


def test_an_engine_that_fails_is_told_and_goes_on(client, engine):
    Engine.fails = "/collective_rpc"
    target = {"kind": "disk", "urls": [engine]}
    answer = refused(lambda: client.order("publish", {"target": target, "version": 0}), 0, "engine")
    assert answer["category"] == "server"
    assert Engine.calls[-1][0] == "/resume"
    gone = {"kind": "disk", "urls": ["http://127.0.0.1:9"]}
    refused(lambda: client.order("publish", {"target": gone, "version": 0}), 0, "engine-lost")
    assert score(client).shape == (3,)


def test_ways_of_publishing_that_cannot_be_are_refused(client):
    target = {"kind": "nccl", "urls": ["http://127.0.0.1:9"]}
    refused(lambda: client.submit("publish", {"target": target, "version": 0}), 400, "no-vllm")
    target["kind"] = "lora"
    refused(lambda: client.submit("publish", {"target": target, "version": 0}), 400, "no-adapter")


def test_an_engine_that_starts_again_meanwhile_is_lost(engine):
    Engine.is_paused = False
    with pytest.raises(ServerFault, match="started again while it loaded weights"):
        engines.publish_disk(engine, engines.Published("/weights", 3))
    assert Engine.calls[-1][0] == "/resume"


@pytest.mark.parametrize("token", [None, "secret"])
def test_an_engine_gets_the_token_where_there_is_one(engine, token, monkeypatch):
    if token is not None:
        monkeypatch.setenv(engines.TOKEN_VARIABLE, token)
    engines.publish_disk(engine, engines.Published("/weights", 3))
    assert Engine.tokens == {None if token is None else f"Bearer {token}"}
