"""The families that are served, by `model_type`."""

from __future__ import annotations

from typing import Any

from transformers import AutoModelForCausalLM, AutoModelForImageTextToText

from ..errors import Refused
from .family import Family
from .qwen import Qwen3VL, Qwen25VL
from .text import Text
from .tiles import Idefics3, InternVL

VISION: dict[str, Any] = {
    "qwen2_5_vl": Qwen25VL,
    "qwen3_vl": Qwen3VL,
    "qwen3_vl_moe": Qwen3VL,
    "internvl": InternVL,
    "idefics3": Idefics3,
    "smolvlm": Idefics3,
}


def family_of(config: Any, processor: Any) -> Family:
    """The family of a configuration. @raises Refused that says what is missing."""
    kind = config.model_type
    if kind in VISION:
        return VISION[kind](config, processor)
    if hasattr(config, "vision_config") or hasattr(config, "audio_config"):
        known = ", ".join(VISION)
        raise Refused(
            f'Models of type "{kind}" are not served yet: nothing here says where their images '
            f"stand among the tokens, and which positions they take. Served with images: {known}. "
            "Add a class to saccade_worker/families and a line to its catalog."
        )
    return Text(config, processor)


def model_class(config: Any) -> Any:
    """The class of transformers that loads a configuration."""
    return AutoModelForImageTextToText if config.model_type in VISION else AutoModelForCausalLM
