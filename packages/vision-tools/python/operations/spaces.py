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


def ink_runs(line):
    """Runs of columns with ink: [N, 2] from and to, and the height of the ink; pixels.

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
    starts = columns[np.concatenate([[0], breaks + 1])]
    ends = columns[np.concatenate([breaks, [columns.size - 1]])] + 1
    return np.stack([starts, ends], axis=1), rows[-1] - rows[0] + 1


def pitch_of(runs):
    """The distance between symbols of a font that gives all of them one width; None for others."""
    steps = np.diff(runs.mean(axis=1))
    if steps.size < 4:
        return None
    pitch = np.median(steps)
    off = np.abs(steps / pitch - np.round(steps / pitch))
    return pitch if off.mean() < 0.1 else None


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


def word_breaks(runs, height):
    """The gaps between runs that may be spaces, each with its width in heights of the ink."""
    widths = (runs[1:, 0] - runs[:-1, 1]) / height
    pitch = pitch_of(runs)
    if pitch is None:
        return widths, np.full(widths.shape, widest_jump(widths))
    # A comma has wide gaps around it there, but stands where a letter would.
    is_wide = np.diff(runs.mean(axis=1)) > 1.5 * pitch
    return np.where(is_wide, np.maximum(widths, CERTAIN), 0), np.full(widths.shape, SMALLEST)


def with_spaces(line, text, places):
    """The text and the places of its symbols, with spaces where the line has gaps between words."""
    runs, height = ink_runs(line)
    if len(runs) < 2 or len(text) < 2:
        return text, places
    middles = (runs[1:, 0] + runs[:-1, 1]) / 2 / line.shape[1]
    split = set()
    for middle, width, threshold in zip(middles, *word_breaks(runs, height)):
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
