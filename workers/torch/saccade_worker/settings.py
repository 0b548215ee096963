"""Settings of a worker, from its command line."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """How a worker was started."""

    model: str
    host: str
    port: int
    token: str | None
    tls_cert: str | None
    tls_key: str | None
    tls_client_ca: str | None
    dtype: str
    device: str
    checkpoints: str
    recompute: bool
    expose_gradients: bool
    value_head: bool
    reference: bool
    max_models: int
    max_tokens: int
    row_tokens: int
    max_pending: int
    max_body_bytes: int
    blob_bytes: int
    image_backend: str
    timeout_seconds: float
    threads: int
    # Found when the group is opened.
    world: int = 1
    uses_cuda: bool = False


def read_settings(arguments: list[str] | None = None) -> Settings:
    """Reads a command line, and ends the process with help where it is wrong."""
    parser = argparse.ArgumentParser(
        prog="python -m saccade_worker",
        description="Serves a transformers model as Saccade's learner: scores packed forests, "
        "takes gradients of log-probs, steps AdamW, saves, publishes. Alone, or under torchrun "
        "with one process per GPU; rank 0 answers HTTP.",
        epilog="Examples:\n"
        "  python -m saccade_worker --model Qwen/Qwen2.5-VL-3B-Instruct --dtype bf16 --recompute\n"
        "  torchrun --nproc-per-node 8 -m saccade_worker --model DIR --checkpoints /shared/runs\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--model", required=True, help="directory in Hugging Face layout, or a name of a hub")
    add("--host", default="127.0.0.1", help="address to listen on (default: this machine alone)")
    add("--port", type=int, default=8760, help="port to listen on; 0 takes a free one")
    add(
        "--token",
        default=os.environ.get("SACCADE_WORKER_TOKEN"),
        help="key that clients send as x-api-key or bearer; also SACCADE_WORKER_TOKEN",
    )
    add("--tls-cert", help="certificate of this server, PEM")
    add("--tls-key", help="its key, PEM")
    add("--tls-client-ca", help="certificates that clients' certificates must descend from")
    add("--dtype", choices=("f32", "bf16"), default="f32", help="of the computation; sums are f32")
    add("--device", choices=("auto", "cpu", "cuda"), default="auto")
    add("--checkpoints", default="checkpoints", help="where checkpoints are written and read")
    add("--recompute", action="store_true", help="make activations again in the backward")
    add("--expose-gradients", action="store_true", help="answer POST gradients, for tests")
    add("--value-head", action="store_true", help="models get a value head unless they say not")
    add("--reference", action="store_true", help="full models keep a frozen copy of the base")
    add("--max-models", type=int, default=1, help="models held at a time")
    add("--max-tokens", type=int, default=65536, help="most tokens of a tree")
    add("--row-tokens", type=int, default=8192, help="trees share a row up to this many tokens")
    add("--max-pending", type=int, default=256, help="requests that wait before 429")
    add("--max-body-bytes", type=int, default=512 << 20, help="most bytes of a request")
    add("--blob-bytes", type=int, default=2 << 30, help="most bytes of stored images")
    add("--image-backend", choices=("pil", "torchvision"), default="pil")
    add("--timeout-seconds", type=float, default=1800, help="of a collective, before it fails")
    add("--threads", type=int, default=0, help="CPU threads of each process; 0 leaves torch's")
    given = vars(parser.parse_args(arguments))
    if (given["tls_cert"] is None) != (given["tls_key"] is None):
        parser.error("--tls-cert and --tls-key come together")
    if given["tls_client_ca"] is not None and given["tls_cert"] is None:
        parser.error("--tls-client-ca needs --tls-cert and --tls-key")
    local = given["host"] in ("127.0.0.1", "::1", "localhost")
    if not local and given["token"] is None and given["tls_client_ca"] is None:
        parser.error(f"--host {given['host']} is open to others: give --token, or --tls-client-ca")
    given["checkpoints"] = os.path.abspath(given["checkpoints"])
    return Settings(**given)
