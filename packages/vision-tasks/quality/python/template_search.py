"""Finds known drawings of unknown size in an image. Imported by `find_pictograms`; it has no `run`."""

import cv2
import numpy as np

# Sizes that are searched, as the longer side in pixels, and the factor from one to the next.
SMALLEST, LARGEST, STEP = 22, 76, 1.09
# Side of drawings in the first search.
COARSE = 16
# Largest root of the mean squared difference of gray levels: of the first search and of the second.
COARSE_ERROR, ERROR = 38, 22
# Candidates of one drawing in one size.
MOST = 24
# Gray levels by which the surroundings of a drawing differ from its edge at least.
CONTRAST = 12


def search(gray, templates):
    """Things that are there: [{"name", "x", "y", "size", "error"}], best first.

    gray:      [H, W] float32 from 0 to 255
    templates: (name, [S, S] gray levels, [S, S] coverage from 0 to 1) each
    """
    candidates = []
    size = SMALLEST
    while size <= LARGEST:
        candidates += coarse(gray, templates, size)
        size *= STEP
    refined = [refine(gray, *one) for one in thinned(candidates)]
    kept = []
    for one in sorted((one for one in refined if one is not None), key=lambda one: one["error"]):
        if all(np.hypot(one["x"] - k["x"], one["y"] - k["y"]) > 0.4 * (one["size"] + k["size"]) for k in kept):
            kept.append(one)
    return kept


def poses(templates):
    for name, drawing, mask in templates:
        yield name, drawing, mask
        yield name, np.ascontiguousarray(drawing[:, ::-1]), np.ascontiguousarray(mask[:, ::-1])


def scaled(drawing, mask, side):
    """A drawing and what it covers fully, trimmed; sides are whole pixels."""
    small = cv2.resize(mask, (side, side), interpolation=cv2.INTER_AREA)
    paint = cv2.resize(drawing, (side, side), interpolation=cv2.INTER_AREA)
    return paint, (small > 0.95).astype(np.float32)


def coarse(gray, templates, size):
    factor = COARSE / size
    shape = (max(1, round(gray.shape[1] * factor)), max(1, round(gray.shape[0] * factor)))
    small = cv2.resize(gray, shape, interpolation=cv2.INTER_AREA)
    found = []
    for name, drawing, mask in poses(templates):
        paint, cover = scaled(drawing, mask, COARSE)
        if cover.sum() < 20:
            cover = (cv2.resize(mask, (COARSE, COARSE), interpolation=cv2.INTER_AREA) > 0.5).astype(np.float32)
        squares = cv2.matchTemplate(small, paint, cv2.TM_SQDIFF, mask=cover) / cover.sum()
        lowest = squares == cv2.erode(squares, np.ones((5, 5), np.uint8))
        rows, columns = np.nonzero(lowest & (squares < COARSE_ERROR**2))
        best = np.argsort(squares[rows, columns])[:MOST]
        for row, column in zip(rows[best], columns[best]):
            x, y = (column + COARSE / 2) / factor, (row + COARSE / 2) / factor
            found.append((name, drawing, mask, x, y, size, float(squares[row, column])))
    return found


def thinned(candidates):
    """The candidates without those that another of the same place outdoes clearly."""
    ranked = sorted(candidates, key=lambda one: one[6])
    kept = []
    for one in ranked:
        near = [k for k in kept if abs(k[3] - one[3]) + abs(k[4] - one[4]) < 0.35 * one[5]]
        if len(near) < 6:
            kept.append(one)
    return kept


def refine(gray, name, drawing, mask, x, y, size, _):
    best = None
    for factor in (0.93, 0.96, 0.98, 1.0, 1.02, 1.04, 1.07):
        side = round(size * factor)
        paint, cover = scaled(drawing, mask, side)
        if cover.sum() < 20:
            continue
        reach = side // 2 + 3
        left, top = int(round(x)) - reach, int(round(y)) - reach
        part = padded(gray, left, top, 2 * reach + 1)
        squares = cv2.matchTemplate(part, paint, cv2.TM_SQDIFF, mask=cover) / cover.sum()
        low, _, (column, row), _ = cv2.minMaxLoc(squares)
        error = max(0.0, low) ** 0.5
        if best is None or error < best["error"]:
            around = part[row : row + side, column : column + side]
            edge = {"contrast": contrast(around, paint, cover)}
            place = {"x": left + column + side / 2, "y": top + row + side / 2, "size": side}
            best = {"name": name, "error": error, **place, **edge}
    if best is None or best["error"] > ERROR or best["contrast"] < CONTRAST:
        return None
    return best


def padded(gray, left, top, side):
    """A square of an image; beyond its edge the nearest pixel."""
    rows = np.clip(np.arange(top, top + side), 0, gray.shape[0] - 1)
    columns = np.clip(np.arange(left, left + side), 0, gray.shape[1] - 1)
    return np.ascontiguousarray(gray[np.ix_(rows, columns)])


def contrast(around, paint, cover):
    """Root mean square of the difference between what surrounds a drawing and its nearest paint."""
    far, nearest = cv2.distanceTransformWithLabels(
        1 - cover.astype(np.uint8), cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL
    )
    ring = (far >= 2) & (far <= 4)
    if not ring.any():
        return 0.0
    of_paint = np.zeros(int(nearest.max()) + 1, np.float32)
    of_paint[nearest[cover > 0]] = paint[cover > 0]
    return float(np.sqrt(np.mean((around - of_paint[nearest])[ring] ** 2)))
