"""HTTP: routes, authentication, limits and answers. What they mean is the service's."""

from __future__ import annotations

import asyncio
import hmac
import ssl
from collections.abc import Callable
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from . import bodies
from .errors import (
    Conflict,
    Draining,
    NotFound,
    ServerFault,
    TooLarge,
    Unauthorized,
    UnsupportedMedia,
    WorkerError,
)
from .metrics import exposition
from .service import Service, digest_of
from .settings import Settings
from .wire import BINARY, decode, encode

INCARNATION = "x-saccade-incarnation"
LONGEST_POLL_SECONDS = 30.0

SUBMITS = (
    "create_model",
    "unload_model",
    "forward",
    "forward_backward",
    "backward",
    "optim_step",
    "reset_optimizer",
    "save_weights",
    "save_weights_for_sampler",
    "load_weights",
    "publish",
    "checksum",
    "gradients",
    "asample",
)


def make_app(service: Service, settings: Settings) -> Starlette:
    """The application that answers below /api/v1."""

    def guarded(act: Callable[[Request], Any]) -> Callable[[Request], Any]:
        async def endpoint(request: Request) -> Response:
            try:
                _authorize(request, settings.token)
                _expect_incarnation(request, service.incarnation)
                answer = await act(request)
            except WorkerError as error:
                return _failed(service, error)
            except Exception as error:  # Anything else is a fault of this server.
                return _failed(service, ServerFault(f"{type(error).__name__}: {error}"))
            return answer if isinstance(answer, Response) else _answer(service, answer)

        return endpoint

    def direct(act: Callable[[dict[str, Any]], Any]) -> Callable[[Request], Any]:
        async def run(request: Request) -> Any:
            raw = await _read(request, settings.max_body_bytes)
            body = decode(request.headers.get("content-type"), raw)
            return await run_in_threadpool(act, body)

        return run

    def submit(name: str) -> Callable[[Request], Any]:
        act = getattr(service, name)

        async def run(request: Request) -> Any:
            if service.is_draining:
                raise Draining("The worker ends and takes nothing new.")
            raw = await _read(request, settings.max_body_bytes)
            body = decode(request.headers.get("content-type"), raw)
            return {"request_id": await run_in_threadpool(act, body, digest_of(raw))}

        return run

    async def health(request: Request) -> Any:
        return service.health()

    async def metrics(request: Request) -> Any:
        return Response(exposition(service.health()), media_type="text/plain; version=0.0.4")

    async def capabilities(request: Request) -> Any:
        return service.capabilities()

    async def retrieve(request: Request) -> Any:
        raw = await _read(request, 1 << 20)
        given = bodies.read(bodies.Retrieve, decode(request.headers.get("content-type"), raw))
        future = service.futures.get(given.request_id)
        wait = LONGEST_POLL_SECONDS
        if given.timeout_seconds is not None:
            wait = min(wait, given.timeout_seconds)
        if not future.outcome.done():
            await asyncio.wait([asyncio.wrap_future(future.outcome)], timeout=wait)
        if not future.outcome.done():
            return {
                "type": "try_again",
                "request_id": given.request_id,
                "queue_state": "active",
            }
        wants_binary = BINARY in request.headers.get("accept", "")
        answer = future.answer()
        content, kind = await run_in_threadpool(encode, answer, wants_binary)
        return Response(content, media_type=kind, headers={INCARNATION: service.incarnation})

    async def put_blob(request: Request) -> Any:
        sha256 = request.path_params["sha256"]
        raw = await _read(request, settings.max_body_bytes)
        kind = request.headers.get("content-type")
        await run_in_threadpool(service.blobs.put, sha256, kind, raw)
        return {"sha256": sha256}

    async def delete_checkpoint(request: Request) -> Any:
        given = request.path_params
        return await run_in_threadpool(
            service.delete_checkpoint, given["model"], given["kind"], given["name"]
        )

    async def unknown(request: Request) -> Any:
        raise NotFound(f"{request.method} {request.url.path} is no route of this server.")

    directs = {
        "create_session": service.create_session,
        "session_heartbeat": service.session_heartbeat,
        "get_info": service.get_info,
        "create_sampling_session": service.create_sampling_session,
        "blobs/missing": service.missing_blobs,
    }
    routes = [
        Route("/api/v1/healthz", guarded(health), methods=["GET"]),
        Route("/metrics", guarded(metrics), methods=["GET"]),
        Route("/api/v1/get_server_capabilities", guarded(capabilities), methods=["GET"]),
        Route("/api/v1/retrieve_future", guarded(retrieve), methods=["POST"]),
        *(
            Route(f"/api/v1/{name}", guarded(direct(act)), methods=["POST"])
            for name, act in directs.items()
        ),
        *(Route(f"/api/v1/{name}", guarded(submit(name)), methods=["POST"]) for name in SUBMITS),
        Route("/api/v1/blobs/{sha256}", guarded(put_blob), methods=["PUT"]),
        Route(
            "/api/v1/training_runs/{model}/checkpoints/{kind}/{name}",
            guarded(delete_checkpoint),
            methods=["DELETE"],
        ),
        Route("/{path:path}", guarded(unknown), methods=["GET", "POST", "PUT", "DELETE", "PATCH"]),
    ]
    return Starlette(routes=routes)


def make_server(app: Starlette, settings: Settings) -> uvicorn.Server:
    """The server of an application, with TLS where certificates were given."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
            host=settings.host,
            port=settings.port,
            log_level="warning",
            access_log=False,
            ssl_certfile=settings.tls_cert,
            ssl_keyfile=settings.tls_key,
            ssl_ca_certs=settings.tls_client_ca,
            ssl_cert_reqs=ssl.CERT_REQUIRED if settings.tls_client_ca else ssl.CERT_NONE,
            timeout_graceful_shutdown=5,
        )
    )


async def _read(request: Request, most: int) -> bytes:
    """A body of bounded size."""
    encoding = request.headers.get("content-encoding", "identity")
    if encoding != "identity":
        raise UnsupportedMedia(f"Bodies come as they are, without encoding {encoding}.")
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise TooLarge(f"A body may have {most} bytes here.", code="body-too-large")
        parts.append(part)
    return b"".join(parts)


def _authorize(request: Request, token: str | None) -> None:
    if token is None:
        return
    given = request.headers.get("x-api-key")
    if given is None:
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        given = given if scheme.lower() == "bearer" else ""
    if not hmac.compare_digest(given.strip().encode(), token.encode()):
        raise Unauthorized("Send the worker's token as x-api-key or as a bearer token.")


def _expect_incarnation(request: Request, incarnation: str) -> None:
    given = request.headers.get(INCARNATION)
    if given is not None and given != incarnation:
        raise Conflict(
            "This is another start of the worker: gradients and optimizer state since the last "
            "checkpoint are gone. Load a checkpoint and replay the step.",
            code="foreign-incarnation",
            incarnation=incarnation,
        )


def _answer(service: Service, value: Any) -> Response:
    content, kind = encode(value, False)
    return Response(content, media_type=kind, headers={INCARNATION: service.incarnation})


def _failed(service: Service, error: WorkerError) -> Response:
    headers = {INCARNATION: service.incarnation}
    if error.status in (429, 503):
        headers["retry-after"] = "1"
    content, kind = encode(error.body(), False)
    return Response(content, status_code=error.status, media_type=kind, headers=headers)
