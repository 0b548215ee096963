"""Answers a question about stickers on a wall of photographs, pages and maps.

`run({"question", "kinds": [{"name", "plural"}]}, [image, drawings, masks])` gives the answer as text,
or None. The drawings are squares beside each other, one of each kind; masks are white where they paint.
"""

import re

import cv2
import numpy as np
from operations.enlarged import tokens_of

# A label: a white box with a gray edge, so high, and so wide; pixels.
HEIGHT, NARROW, WIDE = 13, 16, 40
SIDE = 32
INKS = {
    "red": (208, 24, 32),
    "orange": (238, 128, 8),
    "green": (18, 138, 44),
    "blue": (22, 82, 206),
    "purple": (134, 40, 168),
    "black": (38, 38, 38),
}


def run(params, images):
    image, drawings, masks = images
    question, kinds = params["question"], params["kinds"]
    names = re.findall(r"the only ([a-z ]+?)(?=[,:.?])", question)
    stickers = stickers_of(image)
    if not stickers:
        return None, []
    shapes = shapes_of(kinds, masks)
    scores = np.array([[float((sticker["shape"] * shape).sum()) for shape in shapes] for sticker in stickers])
    found = []
    for name in names:
        column = next(index for index, kind in enumerate(kinds) if kind["name"] == name)
        # How much better a sticker fits this kind than the best of the others.
        others = np.delete(scores, column, axis=1).max(axis=1)
        found.append(stickers[int(np.argmax(scores[:, column] - others))])
    if "What color" in question:
        return found[0]["color"], []
    if "written" in question:
        left, top, right, bottom = found[0]["label"]
        part = image[max(0, top - 3) : bottom + 3, max(0, left - 6) : right + 6]
        texts = [token["text"] for token in tokens_of(part, 240)]
        return (re.sub(r"[^A-Z0-9]", "", "".join(texts).upper()) or None), []
    (ax, ay), (bx, by) = (sticker["middle"] for sticker in found[:2])
    return f"{'upper' if by < ay else 'lower'} {'left' if bx < ax else 'right'}", []


def stickers_of(image):
    """Stickers by their labels: {"middle", "label", "shape", "color"}."""
    white = (np.abs(image.astype(np.int16) - (252, 252, 250)).max(axis=2) <= 4).astype(np.uint8)
    count, _, stats, _ = cv2.connectedComponentsWithStats(white, connectivity=4)
    found = []
    for left, top, wide, tall, area in stats[1:count].tolist():
        if tall != HEIGHT - 2 or not NARROW - 2 <= wide <= WIDE - 2 or area < 0.3 * wide * tall:
            continue
        label = (left - 1, top - 1, left + wide + 1, top + tall + 1)
        disk = disk_above(white, label)
        if disk is not None:
            found.append({**described(image, disk), "label": label})
    return found


def disk_above(white, label):
    """The square of the disk whose lowest pixel is just above a label, or None."""
    middle = (label[0] + label[2]) // 2
    bottom = label[1] - 1
    for side in range(20, 42, 2):
        top, left = bottom - side, round(middle - side / 2)
        if top < 1 or left < 0 or left + side > white.shape[1]:
            continue
        # The row above the disk is not white, the row in it is.
        inside = white[top + 2 : top + 4, middle - 2 : middle + 2].mean()
        outside = white[top - 1 : top + 1, middle - 2 : middle + 2].mean()
        rim = white[top + side // 2 - 1 : top + side // 2 + 1, left + 2 : left + 4].mean()
        if inside > 0.5 and outside < 0.5 and rim > 0.2:
            return left, top, side
    return None


def described(image, disk):
    left, top, side = disk
    part = image[top : top + side, left : left + side].astype(np.float32)
    rows, columns = np.mgrid[0:side, 0:side] + 0.5 - side / 2
    within = np.hypot(rows, columns) < side / 2 - 2
    ink = (252 - part.min(axis=2)).clip(0, 252) / 252 * within
    return {
        "middle": (left + side / 2, top + side / 2),
        "shape": normed(cv2.resize(ink, (SIDE, SIDE), interpolation=cv2.INTER_AREA)),
        "color": color_of(part[(ink > 0.35)]),
    }


def color_of(pixels):
    if len(pixels) == 0:
        return None
    chroma = pixels - pixels.mean(axis=1, keepdims=True)
    own = chroma.mean(axis=0)
    if float(np.abs(own).max()) < 18:
        return "black"

    def unlike(name):
        ink = np.array(INKS[name], np.float32)
        tone = ink - ink.mean()
        return -float(tone @ own) / (float(np.linalg.norm(tone) * np.linalg.norm(own)) + 1e-6)

    return min((name for name in INKS if name != "black"), key=unlike)


def normed(shape):
    centered = shape - shape.mean()
    return centered / (float(np.linalg.norm(centered)) + 1e-6)


def shapes_of(kinds, masks):
    """What the ink of each kind covers on a disk: about 0.36 of it, as far as the drawing fits."""
    side = masks.shape[0]
    shapes = []
    for index in range(len(kinds)):
        mask = masks[:, index * side : (index + 1) * side, 0].astype(np.float32) / 255
        share = min(0.8, float(np.sqrt(0.36 * np.pi / 4 / max(1e-3, mask.mean()))))
        inner = max(8, round(SIDE * share))
        shape = np.zeros((SIDE, SIDE), np.float32)
        start = (SIDE - inner) // 2
        shape[start : start + inner, start : start + inner] = cv2.resize(mask, (inner, inner), interpolation=cv2.INTER_AREA)
        shapes.append(normed(shape))
    return shapes
