"""Bodies of requests and answers: JSON, or a safetensors file whose metadata holds the JSON."""

from __future__ import annotations

import json
import math
import struct
from typing import Any

import numpy as np
from safetensors import SafetensorError, deserialize
from safetensors.numpy import save

from .errors import UnsupportedMedia, UserError

JSON = "application/json"
BINARY = "application/x-safetensors"

_DTYPES = {
    "F32": np.float32,
    "F64": np.float64,
    "I32": np.int32,
    "I64": np.int64,
    "U8": np.uint8,
}
_NAMES = {"float32": "float32", "int32": "int32", "int64": "int64"}


def media_type(header: str | None) -> str:
    """The media type of a content-type header, without its parameters."""
    return (header or JSON).split(";")[0].strip().lower()


def decode(content_type: str | None, raw: bytes) -> dict[str, Any]:
    """Reads a request: a JSON object in which tensors of a binary body are NumPy arrays."""
    kind = media_type(content_type)
    if kind == BINARY:
        tensors, metadata = read_tensors(raw)
        if "body" not in metadata:
            raise UserError('The metadata of a safetensors body must hold "body", the JSON text.')
        body = _resolve(_parse(metadata["body"].encode()), tensors)
    elif kind == JSON:
        body = _parse(raw)
    else:
        raise UnsupportedMedia(f"Bodies are {JSON} or {BINARY}, got {kind}.")
    if not isinstance(body, dict):
        raise UserError("A body must be a JSON object.")
    return body


def read_tensors(raw: bytes) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """The tensors and the metadata of a safetensors file. @raises UserError if it is damaged."""
    try:
        found = deserialize(raw)
        (length,) = struct.unpack("<Q", raw[:8])
        header = json.loads(raw[8 : 8 + length])
    except (SafetensorError, struct.error, ValueError) as error:
        raise UserError(f"The body is no safetensors file: {error}.") from error
    tensors = {}
    for name, entry in found:
        dtype = _DTYPES.get(entry["dtype"])
        if dtype is None:
            raise UserError(
                f'Tensor "{name}" has dtype {entry["dtype"]}; expected one of {", ".join(_DTYPES)}.'
            )
        tensors[name] = np.frombuffer(entry["data"], dtype=dtype).reshape(entry["shape"])
    return tensors, header.get("__metadata__", {})


def encode(value: Any, binary: bool) -> tuple[bytes, str]:
    """An answer and its content type. Arrays are `TensorData` in JSON, tensors in binary."""
    if not binary:
        return json.dumps(_plain(value), allow_nan=False).encode(), JSON
    tensors: dict[str, np.ndarray] = {}
    body = json.dumps(_lifted(value, tensors), allow_nan=False)
    return save(tensors, metadata={"body": body}), BINARY


def _parse(raw: bytes) -> Any:
    try:
        return json.loads(raw or b"{}")
    except ValueError as error:
        raise UserError(f"The body is no JSON: {error}.") from error


def _resolve(value: Any, tensors: dict[str, np.ndarray]) -> Any:
    if isinstance(value, list):
        return [_resolve(one, tensors) for one in value]
    if not isinstance(value, dict):
        return value
    name = value.get("$tensor")
    if name is None:
        return {key: _resolve(one, tensors) for key, one in value.items()}
    if name not in tensors:
        raise UserError(f'The body names the tensor "{name}", which it does not hold.')
    return tensors[name]


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        dtype = _NAMES.get(value.dtype.name, "float32")
        return {"data": _plain(value.ravel().tolist()), "dtype": dtype, "shape": list(value.shape)}
    return _walk(value, _plain)


def _lifted(value: Any, tensors: dict[str, np.ndarray]) -> Any:
    if isinstance(value, np.ndarray):
        name = f"t{len(tensors)}"
        tensors[name] = np.ascontiguousarray(value)
        return {"$tensor": name}
    return _walk(value, lambda one: _lifted(one, tensors))


def _walk(value: Any, each: Any) -> Any:
    if isinstance(value, dict):
        return {key: each(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [each(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
