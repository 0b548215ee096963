"""Sets one thing of known outline on a photograph.

`run({"seed", "isTextured": false}, [])` gives `{"box": [l, t, r, b], "inside": [x, y], "outside": [x, y]}`,
the image of 480 x 360, and its mask. Its color differs from the surroundings, as much as the case says.
"""

import cv2
import numpy as np
from operations.photographs import background, photograph

WIDTH, HEIGHT = 480, 360


def outline(random):
    """A closed curve around a middle: an ellipse, a polygon or a blob."""
    middle = random.uniform(140, WIDTH - 140), random.uniform(120, HEIGHT - 120)
    radius = random.uniform(45, 105)
    angles = np.linspace(0, 2 * np.pi, 120, endpoint=False)
    kind = random.integers(3)
    if kind == 0:
        stretch, turn = random.uniform(0.6, 1), random.uniform(0, np.pi)
        x, y = radius * np.cos(angles), radius * stretch * np.sin(angles)
        x, y = x * np.cos(turn) - y * np.sin(turn), x * np.sin(turn) + y * np.cos(turn)
    elif kind == 1:
        corners = int(random.integers(3, 8))
        turns = np.linspace(0, 2 * np.pi, corners, endpoint=False) + random.uniform(0, 1)
        x, y = radius * np.cos(turns), radius * np.sin(turns)
    else:
        waves = sum(
            random.uniform(0, 0.12) * np.sin(count * angles + random.uniform(0, 6))
            for count in (2, 3, 5)
        )
        x, y = radius * (1 + waves) * np.cos(angles), radius * (1 + waves) * np.sin(angles)
    return np.stack([x + middle[0], y + middle[1]], axis=1).round().astype(np.int32)


def run(params, images):
    random = np.random.default_rng(params["seed"])
    scene = background(random, WIDTH, HEIGHT)
    mask = np.zeros((HEIGHT, WIDTH), dtype=np.uint8)
    cv2.fillPoly(mask, [outline(random)], 255)
    hue = np.array([[[random.integers(180), random.integers(150, 255), random.integers(120, 255)]]])
    color = cv2.cvtColor(hue.astype(np.uint8), cv2.COLOR_HSV2RGB)[0, 0].astype(np.float32)
    if params.get("isTextured"):
        photo = photograph(str(random.choice(["apple", "orange", "dog", "cat"])))
        skin = cv2.resize(photo, (WIDTH, HEIGHT)).astype(np.float32) * 0.6 + color * 0.4
    else:
        shade = np.linspace(0.8, 1.1, HEIGHT)[:, None, None]
        skin = np.ones((HEIGHT, WIDTH, 1)) * color * shade + random.normal(0, 5, (HEIGHT, WIDTH, 1))
    soft = cv2.GaussianBlur(mask, (0, 0), 0.8).astype(np.float32)[:, :, None] / 255
    image = scene * (1 - soft) + skin * soft
    rows, columns = np.nonzero(mask.any(axis=1))[0], np.nonzero(mask.any(axis=0))[0]
    box = [int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1]
    deep = cv2.distanceTransform(mask, cv2.DIST_L2, 5)
    y, x = np.unravel_index(deep.argmax(), deep.shape)
    result = {"box": box, "inside": [int(x), int(y)], "outside": [8, 8]}
    return result, [image.clip(0, 255).round().astype(np.uint8), mask]
