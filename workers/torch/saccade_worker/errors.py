"""Errors as the wire shows them: a status, a category, and what the client can do about it."""

from __future__ import annotations

from typing import Any


class WorkerError(Exception):
    """An error with an HTTP status and a category: `user`, `server` or `capacity`."""

    status = 500
    category = "server"

    def __init__(
        self, message: str, *, field: str | None = None, code: str | None = None, **facts: Any
    ) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.code = code
        self.facts = facts

    def body(self) -> dict[str, Any]:
        """The JSON body of an error answer."""
        body: dict[str, Any] = {"error": self.message, "category": self.category}
        if self.field is not None:
            body["field"] = self.field
        if self.code is not None:
            body["code"] = self.code
        return {**body, **self.facts}

    def __reduce__(self) -> Any:
        return _rebuild, (type(self), self.message, self.field, self.code, self.facts)


def _rebuild(kind: type, message: str, field: Any, code: Any, facts: dict[str, Any]) -> WorkerError:
    return kind(message, field=field, code=code, **facts)


class UserError(WorkerError):
    """What was asked is wrong; asking again does not help."""

    status = 400
    category = "user"


class Unauthorized(UserError):
    """The key is missing or wrong."""

    status = 401


class NotFound(UserError):
    """A model, session or route that does not exist."""

    status = 404


class Conflict(UserError):
    """What was asked does not fit the state: a sequence number, a version, a missing blob."""

    status = 409


class Gone(UserError):
    """A result that is not kept any more, or never was."""

    status = 410


class TooLarge(UserError):
    """A body, a blob or a batch over the limit."""

    status = 413


class UnsupportedMedia(UserError):
    """A content type or encoding that is not read here."""

    status = 415


class Capacity(WorkerError):
    """There is no room now; `Retry-After` says when to ask again."""

    status = 429
    category = "capacity"


class Draining(WorkerError):
    """The server ends; it takes nothing new."""

    status = 503
    category = "capacity"


class ServerFault(WorkerError):
    """Something failed here; the request may be right."""

    status = 500


class Refused(Exception):
    """A model that this worker cannot serve, and what is missing."""
