"""The photographs that cases are made of, and the things in them."""

import os

import cv2
import matplotlib
import numpy as np

FOLDER = os.path.join(os.path.dirname(__file__), "..", "photographs")
HOPPER = os.path.join(
    os.path.dirname(matplotlib.__file__), "mpl-data", "sample_data", "grace_hopper.jpg"
)
BACKGROUNDS = ("street", "alps", "house", "grass", "brick", "gravel")
# [l, t, r, b] in pixels of the photograph, by class.
THINGS = {
    "cat": [("cat", [0, 0, 400, 300])],
    "coffee": [("cup", [143, 15, 345, 255])],
    "astronaut": [("person", [14, 13, 365, 512])],
    "dog": [("dog", [0, 20, 510, 512])],
    "apple": [("apple", [42, 55, 463, 500])],
    "orange": [("orange", [28, 55, 462, 500])],
    "basketball": [("person", [27, 65, 140, 384]), ("person", [343, 21, 512, 384])],
    "hopper": [("person", [4, 10, 512, 600]), ("tie", [228, 430, 290, 540])],
}


def photograph(name):
    """[H, W, 3] uint8 RGB."""
    path = HOPPER if name == "hopper" else os.path.join(FOLDER, f"{name}.jpg")
    return np.ascontiguousarray(cv2.imread(path)[:, :, ::-1])


def background(random, width, height):
    """A part of a photograph without the things above, scaled to a size."""
    image = photograph(str(random.choice(BACKGROUNDS)))
    high, wide = image.shape[:2]
    share = random.uniform(0.6, 1)
    w, h = min(wide, int(high * width / height)), min(high, int(wide * height / width))
    w, h = int(w * share), int(h * share)
    x, y = int(random.integers(0, wide - w + 1)), int(random.integers(0, high - h + 1))
    return cv2.resize(image[y : y + h, x : x + w], (width, height), interpolation=cv2.INTER_CUBIC)
