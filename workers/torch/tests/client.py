"""A client of the wire, and worker processes to speak to."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from typing import Any

import numpy as np
from safetensors.numpy import save

from saccade_worker.wire import BINARY, decode, encode

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class RefusalError(Exception):
    """An answer that is an error."""

    def __init__(self, status: int, body: dict[str, Any]) -> None:
        super().__init__(f"{status} {body}")
        self.status = status
        self.body = body


class Client:
    """Sends requests and reads futures; counts the numbers of one model."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        binary: bool = True,
        cafile: str | None = None,
    ) -> None:
        self.url = url
        self._tls = ssl.create_default_context(cafile=cafile) if cafile else None
        self.token = token
        self.binary = binary
        self.incarnation: str | None = None
        self.model_id = ""
        self.seq_id = 0

    def send(
        self, method: str, path: str, raw: bytes | None, kind: str, accept: str = "*/*"
    ) -> Any:
        headers = {"content-type": kind, "accept": accept}
        if self.token is not None:
            headers["x-api-key"] = self.token
        if self.incarnation is not None:
            headers["x-saccade-incarnation"] = self.incarnation
        request = urllib.request.Request(
            f"{self.url}/{path}", data=raw, headers=headers, method=method
        )
        try:
            with urllib.request.urlopen(request, timeout=120, context=self._tls) as answer:
                return decode(answer.headers["content-type"], answer.read())
        except urllib.error.HTTPError as error:
            raise RefusalError(error.code, json.loads(error.read())) from error

    def get(self, path: str) -> Any:
        return self.send("GET", path, None, "application/json")

    def post(self, path: str, body: dict[str, Any], accept: str = "*/*") -> Any:
        raw, kind = encode(body, self.binary)
        return self.send("POST", path, raw, kind, accept)

    def put(self, raw: bytes, kind: str = "image/png") -> str:
        sha256 = hashlib.sha256(raw).hexdigest()
        self.send("PUT", f"blobs/{sha256}", raw, kind)
        return sha256

    def delete(self, path: str) -> Any:
        return self.send("DELETE", path, None, "application/json")

    def result(self, request_id: str, seconds: float = 120) -> Any:
        """The result of a future. @raises RefusalError with status 0 if it failed"""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            answer = self.post("retrieve_future", {"request_id": request_id}, BINARY)
            if answer.get("type") == "request_failed":
                raise RefusalError(0, answer)
            if answer.get("type") != "try_again":
                return answer
        raise TimeoutError(request_id)

    def call(self, path: str, body: dict[str, Any]) -> Any:
        return self.result(self.post(path, body)["request_id"])

    def submit(self, path: str, body: dict[str, Any]) -> str:
        """Sends the model's next request; its number is kept if it was refused."""
        numbered = {"model_id": self.model_id, "seq_id": self.seq_id, **body}
        request_id = self.post(path, numbered)["request_id"]
        self.seq_id += 1
        return request_id

    def order(self, path: str, body: dict[str, Any] | None = None) -> Any:
        return self.result(self.submit(path, body or {}))

    def create(self, lora: dict[str, Any] | None = None, **more: Any) -> str:
        """Creates a model and speaks of it from now on."""
        self.incarnation = self.get("healthz")["incarnation"]
        session = self.post("create_session", {"tags": []})["session_id"]
        asked = {"session_id": session, "model_seq_id": 0, "lora_config": lora, **more}
        self.model_id = self.call("create_model", asked)["model_id"]
        self.seq_id = 0
        return self.model_id

    def unload(self) -> None:
        self.call("unload_model", {"model_id": self.model_id})


class Process:
    """A worker as a process, or under torchrun as several."""

    def __init__(
        self, directory: str, *arguments: str, ranks: int = 1, module: str = "saccade_worker"
    ) -> None:
        self.checkpoints = tempfile.mkdtemp(prefix="saccade-worker-")
        self.log = tempfile.NamedTemporaryFile(
            prefix="saccade-worker-", suffix=".log", mode="w+", delete=False
        )
        alone = [sys.executable, "-m", module]
        group = [
            *(sys.executable, "-m", "torch.distributed.run", "--standalone"),
            *("--nproc-per-node", str(ranks), "-m", module),
        ]
        self.process = subprocess.Popen(
            [
                *(alone if ranks == 1 else group),
                *("--model", directory, "--port", "0", "--device", "cpu", "--threads", "1"),
                *("--checkpoints", self.checkpoints, "--expose-gradients", *arguments),
            ],
            cwd=ROOT,
            stdout=self.log,
            stderr=subprocess.STDOUT,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": ROOT},
            start_new_session=True,
        )
        self.url = self._wait()

    def _wait(self) -> str:
        end = time.monotonic() + 300
        while time.monotonic() < end:
            for line in self.text().splitlines():
                if line.startswith("saccade-worker:") and " at http" in line:
                    return line.rsplit(" at ", 1)[1]
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        raise AssertionError(f"The worker did not start:\n{self.text()[-4000:]}")

    def text(self) -> str:
        with open(self.log.name, encoding="utf-8", errors="replace") as file:
            return file.read()

    def client(self, **more: Any) -> Client:
        return Client(self.url, **more)

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.terminate()
        return self.process.wait(timeout=60)

    def kill(self) -> None:
        # torchrun gives each rank a session of its own, so that they outlive it.
        ranks = ranks_of(self.process)
        for pid in (self.process.pid, *ranks):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, 9)
        self.process.wait(timeout=30)


def ranks_of(process: subprocess.Popen) -> list[int]:
    """Processes that a launcher started and that live, in order of their start."""
    if process.poll() is not None:
        return []
    command = ["ps", "-o", "pid=", "--ppid", str(process.pid)]
    out = subprocess.run(command, capture_output=True, text=True)
    return sorted(int(one) for one in out.stdout.split())


def prepared(patches: np.ndarray, **about: Any) -> bytes:
    """A prepared image as a blob."""
    return save({"patches": patches}, metadata={"body": json.dumps(about)})


def body_of(forest: Any) -> dict[str, Any]:
    """A forest as a request writes it."""
    return {
        "segments": [
            {
                "length": segment.length,
                "parent": segment.parent,
                "images": [dict(one) for one in segment.images],
            }
            for segment in forest.segments
        ],
        "tokens": forest.tokens.astype(np.int32),
        "rows": forest.rows.astype(np.int32),
        "targets": forest.targets.astype(np.int32),
    }
