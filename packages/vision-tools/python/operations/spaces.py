"""Puts back the spaces that a recognizer leaves out, by the gaps between the letters in the image."""

import cv2
import numpy as np

# All in heights of the ink of a line. A space is 0.25 em or more in common fonts, and the ink of a line
# with ascenders 0.75 em high; gaps between letters stay under 0.25.
SMALLEST = 0.25
CERTAIN = 0.5
JUMP = 0.12
AFTER_POINT = 0.3
DIGITS = "0123456789"
POINTS = ".,:%"


def ink_gaps(line):
    """Empty runs of columns between ink: [N, 2] from and to, and the height of the ink; pixels.

    line: [H, W, 3] uint8 RGB of one upright line
    """
    gray = cv2.cvtColor(np.ascontiguousarray(line), cv2.COLOR_RGB2GRAY)
    _, ink = cv2.threshold(gray, 0, 1, cv2.THRESH_BINARY_INV + cv2.THRESH_OTSU)
    # The background is what most of the border is.
    border = np.concatenate([ink[0], ink[-1], ink[:, 0], ink[:, -1]])
    if border.mean() > 0.5:
        ink = 1 - ink
    rows, columns = np.nonzero(ink.any(axis=1))[0], np.nonzero(ink.any(axis=0))[0]
    if rows.size == 0:
        return np.zeros((0, 2)), 1
    breaks = np.nonzero(np.diff(columns) > 1)[0]
    gaps = np.stack([columns[breaks] + 1, columns[breaks + 1]], axis=1)
    return gaps, rows[-1] - rows[0] + 1


def widest_jump(widths):
    """The least width of a gap between words: in the middle of the largest step between sizes."""
    sizes = np.sort(np.minimum(widths, CERTAIN))
    best, threshold = JUMP, CERTAIN
    for small, large in zip(sizes, sizes[1:]):
        if large >= SMALLEST and large - small > best:
            best, threshold = large - small, (small + large) / 2
    return threshold


def least_width(before, after, threshold):
    """Digits all have the width of a wide one, and a point within a number has some space too."""
    if before in DIGITS and after in DIGITS:
        return CERTAIN
    is_number = all(one in DIGITS + POINTS for one in (before, after))
    return max(threshold, AFTER_POINT) if is_number else threshold


def with_spaces(line, text, places):
    """The text and the places of its symbols, with spaces where the line has gaps between words."""
    gaps, height = ink_gaps(line)
    if len(gaps) == 0 or len(text) < 2:
        return text, places
    widths = (gaps[:, 1] - gaps[:, 0]) / height
    threshold = widest_jump(widths)
    middles = gaps.mean(axis=1) / line.shape[1]
    split = set()
    for middle, width in zip(middles, widths):
        after = int(np.searchsorted(places, middle))
        if after in (0, len(text)) or " " in text[after - 1 : after + 1]:
            continue
        if width >= least_width(text[after - 1], text[after], threshold):
            split.add(after)
    found, where = "", []
    for index, (symbol, place) in enumerate(zip(text, places)):
        if index in split:
            found += " "
            where.append(round((places[index - 1] + place) / 2, 4))
        found += symbol
        where.append(place)
    return found, where
