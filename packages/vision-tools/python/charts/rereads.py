"""Finds tick labels that the OCR passed over: detectors of text miss lone digits."""

import cv2
import numpy as np

from .plot import Plot
from .reader import Reader
from .texts import Text


def missed_numbers(
    plot: Plot, texts: list[Text], reader: Reader, side: str, most: int = 16
) -> list[Text]:
    """Numbers at the left (`left`) or bottom edge of a plot that no text covers, read one by one.

    most: how many pieces of ink are read at most; each takes one pass of the recognizer
    """
    if plot.box is None:
        return []
    left, top, right, bottom = (int(v) for v in plot.box)
    gap = np.sqrt(((plot.lab - plot.page) ** 2).sum(-1))
    if side == "left":
        area = [max(0, left - 70), max(0, top - 9), left, min(plot.height, bottom + 10)]
    else:
        area = [
            max(0, left - 20),
            bottom + 3,
            min(plot.width, right + 20),
            min(plot.height, bottom + 34),
        ]
    l, t, r, b = area
    if r - l < 6 or b - t < 6:
        return []
    ink = (gap[t:b, l:r] > 14).astype(np.uint8)
    # Ticks reach to the plot's edge and are as thin as a rule.
    ink = _without_ticks(ink, side)
    joined = cv2.dilate(ink, np.ones((1, 5), np.uint8))
    count, _, stats, _ = cv2.connectedComponentsWithStats(joined, connectivity=8)
    found: list[Text] = []
    boxes = []
    for x, y, w, h, area in stats[1:count]:
        box = np.array([l + x, t + y, l + x + w, t + y + h], float)
        if 5 <= h <= 26 and 3 <= w <= 70 and area >= 10 and not _covered(box, texts):
            boxes.append(box)
    if side == "left":
        boxes.sort(key=lambda box: -box[2])
    for box in boxes[:most]:
        pad = 3
        x0, y0 = max(0, int(box[0]) - pad), max(0, int(box[1]) - pad)
        part = plot.rgb[y0 : int(box[3]) + pad, x0 : int(box[2]) + pad]
        large = cv2.resize(part, None, fx=3, fy=3, interpolation=cv2.INTER_CUBIC)
        words, confidence = reader.line(np.ascontiguousarray(large))
        text = Text(words.strip(), box, confidence)
        if text.number is not None and confidence > 0.5:
            found.append(text)
    return found


def _without_ticks(ink: np.ndarray, side: str) -> np.ndarray:
    """Removes what touches the axis and is at most 3 pixels thick, up to 8 pixels from it."""
    turned = ink.copy() if side == "left" else np.ascontiguousarray(ink[::-1].T)
    strip = turned[:, -8:]
    touching = strip[:, -3:].max(1)
    rows = np.flatnonzero(np.diff(np.concatenate([[0], touching, [0]])))
    for start, end in zip(rows[::2], rows[1::2]):
        if end - start <= 3:
            strip[start:end] = 0
    strip[:, -1] = 0
    return turned if side == "left" else np.ascontiguousarray(turned.T[::-1])


def _covered(box: np.ndarray, texts: list[Text]) -> bool:
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    return any(t.box[0] <= x <= t.box[2] and t.box[1] <= y <= t.box[3] for t in texts)
