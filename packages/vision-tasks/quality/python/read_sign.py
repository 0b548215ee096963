"""Reads small white signs. Imported by `find_pictograms`; it has no `run`."""

import re

import cv2
import numpy as np
from operations.enlarged import center, tokens_of
from operations.ocr import read_text

WHITE = (255, 253, 245)
ENLARGED = 96


def signs_of(image):
    """[{"text", "x", "y"}] of white boards, or of what looks like their text where none is seen."""
    signs = []
    for left, top, right, bottom in boards(image):
        part = np.ascontiguousarray(image[top:bottom, left:right])
        scale = ENLARGED / part.shape[0]
        large = cv2.resize(part, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC)
        large = cv2.copyMakeBorder(large, 24, 24, 24, 24, cv2.BORDER_CONSTANT, value=WHITE)
        text = "".join(line["text"] for line in read_text(large, 0.2))
        if is_sign(tidy(text)):
            signs.append({"text": tidy(text), "x": (left + right) / 2, "y": (top + bottom) / 2})
    if signs:
        return signs
    found = [(tidy(token["text"]), *center(token["box"])) for token in tokens_of(image)]
    return [{"text": text, "x": x, "y": y} for text, x, y in found if is_sign(text)]


def tidy(text):
    return re.sub(r"[^A-Z0-9]", "", text.upper())


def is_sign(text):
    return 2 <= len(text) <= 4


def boards(image):
    """Boxes of what is inside the frames of white boards that are wider than high."""
    near = (np.abs(image.astype(np.int16) - WHITE).max(axis=2) <= 6).astype(np.uint8)
    closed = cv2.morphologyEx(near, cv2.MORPH_CLOSE, np.ones((3, 9), np.uint8))
    count, _, stats, _ = cv2.connectedComponentsWithStats(closed)
    found = []
    for x, y, w, h, area in stats[1:count].tolist():
        if 8 <= h <= 40 and 1.1 * h <= w <= 5 * h and area > 0.75 * w * h:
            found.append((x, y, x + w, y + h))
    return found
