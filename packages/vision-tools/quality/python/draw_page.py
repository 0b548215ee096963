"""Draws a page of text lines.

`run({"seed", "lines": 8, "pose": "upright"}, [])` gives `{"lines": [{"text", "box"}]}` in the upright
page, and the page turned or mirrored as the pose says.
"""

from operations import fonts
import numpy as np

POSES = {
    "upright": lambda page: page,
    "rotate90": lambda page: np.rot90(page, 1),
    "rotate180": lambda page: np.rot90(page, 2),
    "rotate270": lambda page: np.rot90(page, -1),
    "flip-horizontal": lambda page: page[:, ::-1],
    "flip-vertical": lambda page: page[::-1],
}
SCHEMES = (
    ((255, 255, 255), (0, 0, 0)),
    ((250, 244, 220), (60, 30, 10)),
    ((20, 24, 40), (240, 240, 240)),
    ((200, 220, 255), (10, 20, 90)),
    ((235, 235, 235), (150, 20, 20)),
)


def run(params, images):
    random = np.random.default_rng(params["seed"])
    size = int(random.integers(15, 34))
    font = fonts.face(str(random.choice(fonts.FACES)), size)
    back, ink = SCHEMES[int(random.integers(len(SCHEMES)))]
    texts = [fonts.line_of(random) for _ in range(params.get("lines", 8))]
    width = int(max(font.getlength(text) for text in texts)) + 80
    image, draw = fonts.canvas(width, int(len(texts) * size * 1.7) + 60, back)
    lines = []
    for index, text in enumerate(texts):
        at = 30 + int(random.integers(0, 20)), 30 + int(index * size * 1.7)
        lines.append({"text": text, "box": fonts.drawn(draw, at, text, font, ink)})
    page = fonts.noisy(image, random, float(random.choice([0, 0, 4, 8])))
    return {"lines": lines}, [POSES[params.get("pose", "upright")](page)]
