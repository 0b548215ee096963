"""The service's HTTP API: one connection, bounded answers, retries that never run a step twice."""

import http.client
import json
import secrets
import time
from typing import Any
from urllib.parse import urlsplit

MOST_BYTES = 512 * 2**20


class EnvServiceError(RuntimeError):
    """The service refused a request or could not be reached.

    status: HTTP status, 0 where there was no answer.
    code: stable word, e.g. ``unknown-session``; ``unreachable`` where there was no answer.
    """

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class EnvClient:
    """Calls an environment service. Not for several threads at once: give each its own."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        timeout_seconds: float = 120.0,
        retries: int = 3,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or parts.hostname is None:
            raise ValueError(f"Expected an http or https URL, got {url!r}.")
        self._secure = parts.scheme == "https"
        self._host = parts.hostname
        self._port = parts.port
        self._prefix = parts.path.rstrip("/")
        self._token = token
        self._timeout = timeout_seconds
        self._retries = retries
        self._connection: http.client.HTTPConnection | None = None

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """The answer to a POST. Retries only what is safe to repeat: the key runs it once."""
        key = secrets.token_hex(16)
        return self._with_retries("POST", path, json.dumps(body).encode(), {"idempotency-key": key})

    def get(self, path: str, session_id: str | None = None) -> dict[str, Any]:
        """The answer to a GET."""
        headers = {} if session_id is None else {"x-session-id": session_id}
        return self._with_retries("GET", path, None, headers)

    def close(self) -> None:
        """Closes the connection. Idempotent."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _with_retries(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str]
    ) -> dict[str, Any]:
        for attempt in range(self._retries + 1):
            last = attempt == self._retries
            try:
                status, retry_after, answer = self._once(method, path, body, headers)
            except (OSError, http.client.HTTPException) as error:
                self.close()
                if last:
                    where = f"{self._host}:{self._port or ''}"
                    message = f"The service at {where} cannot be reached: {error}"
                    raise EnvServiceError(0, "unreachable", message) from error
                time.sleep(0.2 * 2**attempt)
                continue
            if status < 400:
                return answer
            if status in (429, 503) and retry_after is not None and not last:
                time.sleep(min(retry_after, 10.0))
                continue
            raise _refusal(status, answer)
        raise AssertionError("unreachable")

    def _once(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[int, float | None, dict[str, Any]]:
        if self._connection is None:
            make = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
            self._connection = make(self._host, self._port, timeout=self._timeout)
        sent = {"content-type": "application/json", "accept": "application/json", **headers}
        if self._token is not None:
            sent["authorization"] = f"Bearer {self._token}"
        self._connection.request(method, self._prefix + path, body, sent)
        response = self._connection.getresponse()
        text = response.read(MOST_BYTES + 1)
        if len(text) > MOST_BYTES:
            self.close()
            raise EnvServiceError(response.status, "too-large", "The answer is too large.")
        try:
            answer = json.loads(text)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            self.close()
            raise EnvServiceError(response.status, "no-json", "The answer is no JSON object.")
        after = response.getheader("retry-after")
        return response.status, float(after) if after and after.isdigit() else None, answer


def _refusal(status: int, answer: dict[str, Any]) -> EnvServiceError:
    error = answer.get("error")
    error = error if isinstance(error, dict) else {}
    message = answer.get("detail") or f"{error.get('fact', '')} {error.get('remedy', '')}"
    return EnvServiceError(status, str(error.get("code", "refused")), str(message).strip())
