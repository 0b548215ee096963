"""Spaces of texts in any script and of images of any size."""

from typing import Any

import numpy as np
from gymnasium import spaces

_PRINTABLE = "".join(chr(code) for code in range(32, 127))


class UnicodeText(spaces.Text):
    """Texts of up to ``max_length`` characters of Unicode; samples are printable ASCII."""

    def __init__(self, max_length: int, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(max_length, min_length=0, charset=_PRINTABLE, seed=seed)

    def contains(self, x: Any) -> bool:
        return isinstance(x, str) and len(x) <= self.max_length

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        length = int(self.np_random.integers(0, min(64, self.max_length) + 1))
        picked = self.np_random.integers(0, len(_PRINTABLE), size=length)
        return "".join(_PRINTABLE[index] for index in picked)

    def __repr__(self) -> str:
        return f"UnicodeText({self.max_length})"

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, UnicodeText) and self.max_length == other.max_length


class RgbImage(spaces.Space[np.ndarray]):
    """Images as uint8 [height, width, 3], each side from 1 to ``max_side`` pixels."""

    def __init__(self, max_side: int, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(shape=None, dtype=np.uint8, seed=seed)
        self.max_side = max_side

    @property
    def is_np_flattenable(self) -> bool:
        return False

    def contains(self, x: Any) -> bool:
        if not isinstance(x, np.ndarray) or x.dtype != np.uint8 or x.ndim != 3:
            return False
        height, width, channels = x.shape
        return 1 <= height <= self.max_side and 1 <= width <= self.max_side and channels == 3

    def sample(self, mask: Any = None, probability: Any = None) -> np.ndarray:
        height, width = self.np_random.integers(1, min(64, self.max_side) + 1, size=2)
        return self.np_random.integers(0, 256, size=(height, width, 3), dtype=np.uint8)

    def to_jsonable(self, sample_n: Any) -> list[Any]:
        return [image.tolist() for image in sample_n]

    def from_jsonable(self, sample_n: Any) -> list[np.ndarray]:
        return [np.asarray(image, dtype=np.uint8) for image in sample_n]

    def __repr__(self) -> str:
        return f"RgbImage({self.max_side})"

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, RgbImage) and self.max_side == other.max_side
