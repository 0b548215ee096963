"""Environments of Saccade over HTTP, as ``gymnasium.Env``."""

import gymnasium

from .client import EnvClient, EnvServiceError
from .env import SaccadeEnv
from .spaces import RgbImage, UnicodeText

__all__ = ["EnvClient", "EnvServiceError", "RgbImage", "SaccadeEnv", "UnicodeText"]

ID = "Saccade/Remote-v0"

if ID not in gymnasium.registry:
    gymnasium.register(id=ID, entry_point="saccade_env.env:SaccadeEnv")
