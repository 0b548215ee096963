"""Finds how an image was turned or mirrored, by the pose in which its text can be read.

`run({}, [image])` gives `{"pose", "scores": {pose: score}, "lines"}` and the image put upright, if it
was not. A pose says what was done to the upright image: `upright`, `rotate90`, `rotate180`, `rotate270`
(counterclockwise), `flip-horizontal` (left and right) or `flip-vertical`.
"""

import numpy as np
from declined import Declined
from operations import ocr

# The transform that undoes each pose.
UNDO = {
    "upright": lambda image: image,
    "rotate90": lambda image: np.rot90(image, -1),
    "rotate180": lambda image: np.rot90(image, 2),
    "rotate270": lambda image: np.rot90(image, 1),
    "flip-horizontal": lambda image: image[:, ::-1],
    "flip-vertical": lambda image: image[::-1],
}
# Text is found at any angle, but it is read in one pose only: some lines are enough to tell.
MAX_LINES = 8
MIN_SCORE = 2.0


def poses_of(quads):
    """The poses that fit how most of the text runs; a quarter turn makes lines tall."""
    tall = sum(np.ptp(quad[:, 1]) > np.ptp(quad[:, 0]) for quad in quads)
    if tall * 2 > len(quads):
        return ["rotate90", "rotate270"]
    return ["upright", "rotate180", "flip-horizontal", "flip-vertical"]


def readable(image, quad, pose):
    """How well a line is read once the pose is undone: symbols that count, by their probability."""
    left, top = np.floor(quad.min(axis=0)).astype(int)
    right, bottom = np.ceil(quad.max(axis=0)).astype(int)
    part = image[max(0, top) : bottom, max(0, left) : right]
    if 0 in part.shape:
        return 0.0
    text, confidence, _ = ocr.recognize(np.ascontiguousarray(UNDO[pose](part)))
    # Mirrored letters are read as signs and rare symbols.
    letters = sum(one.isascii() and one.isalnum() for one in text)
    return letters * max(0.0, confidence - 0.5) * 2


def orientation(image):
    """The pose, the score of each pose that was tried, and how many lines were looked at."""
    quads = [quad for quad, _ in ocr.detect(image)]
    # Long lines tell most; a single digit reads well in several poses.
    quads.sort(key=lambda quad: -max(np.ptp(quad[:, 0]), np.ptp(quad[:, 1])))
    lines = [quad for quad in quads if max(np.ptp(quad, axis=0)) > 1.5 * min(np.ptp(quad, axis=0))]
    lines = lines[:MAX_LINES]
    if not lines:
        raise Declined("NothingFound", "There is no text to tell the orientation by. Look yourself.")
    scores = {}
    for pose in poses_of(lines):
        scores[pose] = round(sum(readable(image, quad, pose) for quad in lines), 2)
    best = max(scores, key=scores.get)
    if scores[best] < MIN_SCORE:
        raise Declined("NothingFound", "The text is not readable in any pose. Enlarge it first.")
    return best, scores, len(lines)


def run(params, images):
    image = images[0]
    pose, scores, lines = orientation(image)
    upright = [] if pose == "upright" else [np.ascontiguousarray(UNDO[pose](image))]
    return {"pose": pose, "scores": scores, "lines": lines}, upright
