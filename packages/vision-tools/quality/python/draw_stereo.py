"""Draws a rectified pair: textured rectangles at known disparities before a textured wall.

`run({"seed"}, [])` gives `{"points": [{"at": [x, y], "disparity"}]}` and the left and the right image.
"""

import cv2
import numpy as np
from operations.photographs import background

WIDTH, HEIGHT = 480, 320


def run(params, images):
    random = np.random.default_rng(params["seed"])
    wall = int(random.integers(4, 16))
    texture = background(random, WIDTH + 80, HEIGHT)
    left, right = texture[:, :WIDTH].copy(), texture[:, wall : WIDTH + wall].copy()
    points = [{"at": [WIDTH - 12, 12], "disparity": wall}]
    for index in range(2):
        wide, high = int(random.integers(80, 140)), int(random.integers(80, 160))
        near = int(random.integers(wall + 8, 60))
        x = int(random.integers(80, 120)) + 210 * index
        y = int(random.integers(30, HEIGHT - high - 10))
        skin = background(random, wide, high)
        left[y : y + high, x : x + wide] = skin
        right[y : y + high, x - near : x - near + wide] = skin
        points.append({"at": [x + wide // 2, y + high // 2], "disparity": near})
    noisy = [
        (one + random.normal(0, 2, one.shape)).clip(0, 255).round().astype(np.uint8)
        for one in (cv2.GaussianBlur(left, (0, 0), 0.5), cv2.GaussianBlur(right, (0, 0), 0.5))
    ]
    return {"points": points}, noisy
