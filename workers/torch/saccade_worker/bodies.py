"""Requests as the wire writes them, checked field by field."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from .errors import UserError


def _array(value: Any) -> np.ndarray:
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, dict):
        if "sparse_crow_indices" in value or "data" not in value:
            raise ValueError("expected a dense tensor {data, dtype, shape}")
        array = np.asarray(value["data"])
        shape = value.get("shape")
        if shape is not None and list(shape) != list(array.shape):
            if int(np.prod(shape)) != array.size:
                raise ValueError(f"shape {shape} does not hold {array.size} values")
            array = array.reshape(shape)
        return array
    if isinstance(value, list):
        return np.asarray(value)
    raise ValueError("expected a tensor")


def _ints(value: Any) -> np.ndarray:
    array = _array(value)
    if array.size == 0:
        return array.astype(np.int64).reshape(-1)
    if array.dtype.kind not in "iu":
        raise ValueError(f"expected whole numbers, got {array.dtype}")
    return array.astype(np.int64).reshape(-1)


def _floats(value: Any) -> np.ndarray:
    array = _array(value)
    if array.size > 0 and array.dtype.kind not in "iuf":
        raise ValueError(f"expected numbers, got {array.dtype}")
    return array.astype(np.float32).reshape(-1)


Ints = Annotated[np.ndarray, BeforeValidator(_ints)]
Floats = Annotated[np.ndarray, BeforeValidator(_floats)]
Count = Annotated[int, Field(ge=0)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Body(BaseModel):
    """A request. Fields that are not known here are the client's own, and left alone."""

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="ignore", protected_namespaces=())


class Chunk(Body):
    """A part of a prompt: tokens, or an image in the place of its placeholders."""

    type: Literal["encoded_text", "image", "image_ref", "image_asset_pointer"] = "encoded_text"
    tokens: Ints | None = None
    data: Any = None
    format: str | None = None
    sha256: Sha256 | None = None
    expected_tokens: Annotated[int, Field(ge=1)] | None = None


class ModelInput(Body):
    chunks: list[Chunk]


class LossInputs(Body):
    target_tokens: Ints | None = None
    weights: Floats | None = None
    logprobs: Floats | None = None
    advantages: Floats | None = None


class Datum(Body):
    """One sequence and what its loss needs."""

    model_input: ModelInput
    loss_fn_inputs: LossInputs


class ForestImage(Body):
    sha256: Sha256
    expected_tokens: Annotated[int, Field(ge=1)]


class ForestSegment(Body):
    length: Count
    parent: Annotated[int, Field(ge=-1)]
    images: list[ForestImage] = []


class Forest(Body):
    """Segments in depth-first pre-order, and the rows to score."""

    segments: list[ForestSegment]
    tokens: Ints
    rows: Ints
    targets: Ints


LossName = Literal["cross_entropy", "importance_sampling", "ppo", "cispo", "dro"]


class ForwardInput(Body):
    data: list[Datum] | None = None
    forest: Forest | None = None
    loss_fn: LossName = "cross_entropy"
    loss_fn_config: dict[str, float] | None = None
    loss_fn_inputs: LossInputs = LossInputs()


class Ordered(Body):
    """A call of a model that has its place in the model's order."""

    model_id: str
    seq_id: Count | None = None


class Scoring(Ordered):
    temperature: Annotated[float, Field(gt=0)] = 1.0
    weights: Literal["policy", "reference"] = "policy"
    sum_squared_probs: bool = False
    retain: bool = False


class Forward(Scoring):
    forward_input: ForwardInput


class ForwardBackward(Scoring):
    forward_backward_input: ForwardInput


class Backward(Ordered):
    data_ref: str
    grad_logprobs: Floats
    grad_entropy: Floats | None = None
    grad_values: Floats | None = None


Decay = Annotated[float, Field(ge=0, lt=1)]
Positive = Annotated[float, Field(ge=0)]


class AdamParams(Body):
    """Settings of a step; the defaults are Tinker's."""

    learning_rate: Positive = 1e-4
    beta1: Decay = 0.9
    beta2: Decay = 0.95
    eps: Positive = 1e-12
    weight_decay: Positive = 0.0
    grad_clip_norm: Positive = 0.0


class OptimizerChoice(BaseModel):
    """An optimizer by the names of Saccade's own settings."""

    model_config = ConfigDict(extra="forbid")

    name: str = "adamw"
    beta1: Decay | None = None
    beta2: Decay | None = None
    eps: Positive | None = None
    weightDecay: Positive | None = None  # noqa: N815
    decays: Literal["all", "matrices"] = "all"
    maxGradNorm: Positive | None = None  # noqa: N815


class OptimStep(Ordered):
    adam_params: AdamParams = AdamParams()
    optimizer: OptimizerChoice | None = None
    expected_version: Count | None = None


class Save(Ordered):
    path: str | None = None
    sampling_session_seq_id: int | None = None
    optimizer: bool = False
    merged: bool = False


class Load(Ordered):
    path: str
    optimizer: bool = False


class PublishTarget(Body):
    kind: Literal["lora", "disk", "nccl", "sglang-disk"]
    urls: Annotated[list[str], Field(min_length=1)]
    directory: str | None = None


class Publish(Ordered):
    target: PublishTarget
    version: Count


class Gradients(Ordered):
    names: list[str] | None = None


class LoraConfig(Body):
    rank: Count = 32
    alpha: float | None = None
    seed: int | None = None
    train_mlp: bool = True
    train_attn: bool = True
    train_unembed: bool = True
    targets: list[str] | None = None


class CreateModel(Body):
    session_id: str
    model_seq_id: int = 0
    base_model: str | None = None
    lora_config: LoraConfig | None = None
    value_head: bool | None = None
    reference: bool | None = None


class SessionBody(Body):
    session_id: str


class ModelBody(Body):
    model_id: str
    seq_id: Count | None = None


class CreateSamplingSession(Body):
    session_id: str
    sampling_session_seq_id: int = 0
    base_model: str | None = None
    model_path: str | None = None
    model_id: str | None = None


class SamplingParams(Body):
    max_tokens: Annotated[int, Field(ge=0)] | None = None
    seed: int | None = None
    stop: list[str] | list[int] | str | None = None
    temperature: Annotated[float, Field(ge=0)] = 1.0
    top_k: int = -1
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0


class Sample(Body):
    sampling_session_id: str | None = None
    base_model: str | None = None
    model_path: str | None = None
    seq_id: Count | None = None
    prompt: ModelInput
    num_samples: Annotated[int, Field(ge=1, le=4096)] = 1
    sampling_params: SamplingParams = SamplingParams()
    prompt_logprobs: bool | None = None


class Retrieve(Body):
    request_id: str
    timeout_seconds: Annotated[float, Field(ge=0)] | None = None


class Missing(Body):
    sha256: list[Sha256]


B = TypeVar("B", bound=BaseModel)


def read(kind: type[B], body: dict[str, Any]) -> B:
    """A request of a kind. @raises UserError that names the first field that is wrong."""
    try:
        return kind.model_validate(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        count = error.error_count()
        more = "" if count == 1 else f" ({count - 1} more fields are wrong.)"
        message = first["msg"].removeprefix("Value error, ")
        raise UserError(f"{field or 'body'}: {message}.{more}", field=field or None) from error
