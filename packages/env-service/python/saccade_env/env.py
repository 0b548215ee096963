"""An environment of a service as ``gymnasium.Env``: text in, text and images out."""

import base64
import io
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from PIL import Image

from .client import EnvClient, EnvServiceError
from .spaces import RgbImage, UnicodeText

#: Why an episode is over although the task was not: limits of the environment.
TRUNCATIONS = ("turnLimit", "lengthLimit", "imageLimit")

#: As the sandbox has them: no image is larger.
MOST_PIXELS = 64 * 2**20


class SaccadeEnv(gymnasium.Env[dict[str, Any], str]):
    """One environment of the service at ``url``.

    Action: the text of one turn of the model, stop string included.

    Observation: ``text``, what the environment says (at a reset the system text and the question),
    and ``images``, a tuple of uint8 [height, width, 3], those that are new.

    ``info``: ``task_id``, ``stop`` (where the next turn has to stop), ``messages`` (the same
    content with its order, for chat templates), ``action`` (what was read from the turn), ``result``
    (what the tool gave), ``stop_reason``; and at the end ``reward_terms``, ``turn_rewards`` and
    ``is_correct``.

    The reward is 0 until the end, and then that of the run's reward preset. ``terminated``: the
    episode ended by itself; ``truncated``: a budget ran out. The seed of ``reset`` chooses the task.

    Raises EnvServiceError where something broke that is not the model's fault: reset, and do not
    score the episode.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 1}

    def __init__(
        self,
        url: str,
        token: str | None = None,
        split: str = "train",
        timeout_seconds: float = 120.0,
        max_characters: int = 2**20,
        max_side: int = 2**15,
        render_mode: str | None = None,
    ) -> None:
        if split not in ("train", "heldOut"):
            raise ValueError(f"Expected train or heldOut, got {split!r}.")
        self.action_space = UnicodeText(max_characters)
        self.observation_space = spaces.Dict(
            {
                "text": UnicodeText(8 * max_characters),
                "images": spaces.Sequence(RgbImage(max_side)),
            }
        )
        self.render_mode = render_mode
        self._split = split
        self._client = EnvClient(url, token, timeout_seconds)
        self._session: str | None = None
        self._last_image: np.ndarray | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        super().reset(seed=seed)
        # Without a seed the generator that the last one made chooses, as gymnasium has it.
        chosen = seed if seed is not None else int(self.np_random.integers(2**31))
        body = {"seed": chosen, "split": (options or {}).get("split", self._split)}
        if self._session is not None:
            body["session_id"] = self._session
        try:
            answer = self._client.post("/reset", body)
        except EnvServiceError as error:
            if error.code != "unknown-session":
                raise
            # It was unused for too long: another one takes its place.
            del body["session_id"]
            answer = self._client.post("/reset", body)
        observation = answer["observation"]
        self._session = observation["session_id"]
        self._last_image = None
        return self._read(observation), self._info(observation)

    def step(self, action: str) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        if self._session is None:
            raise gymnasium.error.ResetNeeded("Call reset before step.")
        if not isinstance(action, str):
            raise gymnasium.error.InvalidAction(f"An action is text, got {type(action).__name__}.")
        body = {"session_id": self._session, "action": {"text": action}}
        answer = self._client.post("/step", body)
        observation = answer["observation"]
        done = bool(answer["done"])
        truncated = done and observation["stop_reason"] in TRUNCATIONS
        reward = 0.0 if answer["reward"] is None else float(answer["reward"])
        read = self._read(observation)
        return read, reward, done and not truncated, truncated, self._info(observation)

    def render(self) -> np.ndarray | None:
        """The newest image, uint8 [height, width, 3]; one white pixel before the first."""
        if self.render_mode != "rgb_array":
            return None
        if self._last_image is None:
            return np.full((1, 1, 3), 255, dtype=np.uint8)
        return self._last_image

    def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            try:
                self._client.post("/close", {"session_id": session})
            except EnvServiceError:
                pass  # Gone already, or the service is.
        self._client.close()

    def _read(self, observation: dict[str, Any]) -> dict[str, Any]:
        texts: list[str] = []
        images: list[np.ndarray] = []
        for message in observation["messages"]:
            for part in message["content"]:
                if part["type"] == "text":
                    texts.append(part["text"])
                else:
                    images.append(_decode(part["data"]))
        if images:
            self._last_image = images[-1]
        return {"text": "\n".join(texts), "images": tuple(images)}

    def _info(self, observation: dict[str, Any]) -> dict[str, Any]:
        names = ("task_id", "stop", "messages", "action", "result", "stop_reason")
        info = {name: observation[name] for name in names}
        if observation["reward_terms"] is not None:
            for name in ("reward_terms", "turn_rewards", "is_correct"):
                info[name] = observation[name]
        return info


def _decode(data: str) -> np.ndarray:
    with Image.open(io.BytesIO(base64.b64decode(data)), formats=["PNG"]) as image:
        if image.width * image.height > MOST_PIXELS:
            raise EnvServiceError(0, "image-size", "The service sent an image that is too large.")
        return np.array(image.convert("RGB"), dtype=np.uint8)
