"""Reads the names and arrows of a food web.

`run({"question"}, [image])` gives the answer as text, or None where a name is not read.
"""

import difflib
import re

import cv2
import numpy as np
from operations.enlarged import center, lines_of

SAMPLES = 80
# Of the samples between two boxes, this share is dark where there is an arrow.
DARK_SHARE = 0.97


def run(params, images):
    image = images[0]
    boxes = boxes_of(image)
    arrows = arrows_of(image, boxes)
    question = params["question"].split(". ", 1)[1]

    def named(text):
        found = difflib.get_close_matches(text, list(boxes), 1, 0.7)
        return found[0] if found else None

    def eaters(name):
        return [to for start, to in arrows if start == name]

    def foods(name):
        return [start for start, to in arrows if to == name]

    if "eaten by none" in question:
        return str(sum(not eaters(name) for name in boxes)), []
    for pattern, answer in (
        (r"shown eat the (.+)\?", lambda name: str(len(eaters(name)))),
        (r"shown does the (.+) eat\?", lambda name: str(len(foods(name)))),
        (r"eats both the (.+) and the (.+)\?", lambda one, two: first_of(set(eaters(one)) & set(eaters(two)))),
        (r"from the (.+) to the (.+) have\?", lambda one, two: steps(one, two, eaters)),
    ):
        found = re.search(pattern, question)
        if found:
            names = [named(text) for text in found.groups()]
            return (None if None in names else answer(*names)), []
    return None, []


def first_of(names):
    return sorted(names)[0] if names else None


def steps(start, end, following):
    """How many arrows the shortest way has, as text; None where there is no way."""
    reached, ends, count = {start}, {start}, 0
    while ends:
        if end in ends:
            return str(count)
        ends = {name for one in ends for name in following(one)} - reached
        reached |= ends
        count += 1
    return None


def boxes_of(image):
    """{name: box} of the plates that names stand on."""
    boxes = {}
    for line in lines_of(image):
        if line["text"].startswith("Food web"):
            continue
        plate = plate_around(image, line["box"])
        if plate is not None:
            boxes[line["text"].strip()] = plate
    return boxes


def plate_around(image, box):
    """The region of the color that is most frequent around a text, which is not the page's."""
    left, top, right, bottom = (int(round(side)) for side in box)
    part = image[max(0, top) : bottom, max(0, left) : right].reshape(-1, 3)
    colors, counts = np.unique(part, axis=0, return_counts=True)
    color = colors[counts.argmax()].astype(np.int16)
    page = np.median(image.reshape(-1, 3), axis=0)
    if np.abs(color - page).max() < 4:
        return None
    mask = (np.abs(image.astype(np.int16) - color).max(axis=2) <= 3).astype(np.uint8)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=4)
    inside = labels[max(0, top) : bottom, max(0, left) : right]
    common = np.bincount(inside[inside > 0]).argmax() if (inside > 0).any() else 0
    if common == 0:
        return None
    x, y, w, h, _ = stats[common].tolist()
    return [x - 1, y - 1, x + w + 1, y + h + 1]


def arrows_of(image, boxes):
    """(eaten, eater) of every arrow."""
    gray = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY).astype(np.int16)
    dark = (gray < np.median(gray) - 60).astype(np.uint8)
    near = cv2.dilate(dark, np.ones((3, 3), np.uint8))
    names = list(boxes)
    arrows = []
    for index, one in enumerate(names):
        for other in names[index + 1 :]:
            start, end = ends_between(boxes[one], boxes[other])
            points = [start + (end - start) * share for share in np.linspace(0.03, 0.97, SAMPLES)]
            if np.mean([at(near, point) for point in points]) < DARK_SHARE:
                continue
            toward, back = width_at(dark, end, start), width_at(dark, start, end)
            arrows.append((one, other) if toward > back else (other, one))
    return arrows


def ends_between(one, other):
    """Where the line between the middles of two boxes leaves each."""
    a, b = np.array(center(one)), np.array(center(other))
    step = b - a

    def share(box):
        half = np.array([box[2] - box[0], box[3] - box[1]]) / 2
        return float(np.min(half / np.maximum(np.abs(step), 1e-6)))

    return a + step * share(one), b - step * share(other)


def at(mask, point):
    x, y = (int(round(value)) for value in point)
    return bool(0 <= y < mask.shape[0] and 0 <= x < mask.shape[1] and mask[y, x])


def width_at(dark, tip, tail):
    """How many of the pixels across a line are dark, shortly before its tip."""
    along = (tail - tip) / max(1e-6, np.linalg.norm(tail - tip))
    across = np.array([-along[1], along[0]])
    return sum(at(dark, tip + along * back + across * side) for back in (5, 6, 7, 8) for side in range(-3, 4))
