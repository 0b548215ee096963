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
CIRCLE = np.stack([np.cos(np.arange(32) * np.pi / 16), np.sin(np.arange(32) * np.pi / 16)])
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
    # As close to (252, 252, 250) as 4 levels, without a copy of an image of 8K in wider numbers.
    white = cv2.inRange(image, (248, 248, 246), (255, 255, 254))
    count, _, stats, _ = cv2.connectedComponentsWithStats(white, connectivity=4)
    found = []
    for left, top, wide, tall, area in stats[1:count].tolist():
        if tall != HEIGHT - 2 or not NARROW - 2 <= wide <= WIDE - 2 or area < 0.3 * wide * tall:
            continue
        label = (left - 1, top - 1, left + wide + 1, top + tall + 1)
        disk = disk_above(image, label)
        if disk is not None:
            found.append({**described(image, disk), "label": label})
    return found


def disk_above(image, label):
    """Left, top and side of the disk above a label whose gray edge is seen best, or None."""
    middle, bottom = (label[0] + label[2]) / 2, label[1] - 1
    best = (0.6, None)
    for side in range(20, 42, 2):
        for left in {round(middle - side / 2) + shift for shift in (-1, 0, 1)}:
            top = bottom - side
            if top < 0 or left < 0 or left + side > image.shape[1]:
                continue
            columns = (left + side / 2 + (side / 2 - 0.8) * CIRCLE[0]).astype(int)
            rows = (top + side / 2 + (side / 2 - 0.8) * CIRCLE[1]).astype(int)
            edge = image[rows, columns].astype(np.int16)
            seen = float((np.abs(edge - 130).max(axis=1) < 45).mean())
            if seen > best[0]:
                best = (seen, (left, top, side))
    return best[1]


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
