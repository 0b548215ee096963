"""Lines and areas: the course of one ink from column to column, and its markers."""

from dataclasses import dataclass

import cv2
import numpy as np


@dataclass
class Course:
    """The course of a line: its center row in every column of the image, NaN where there is none.

    `markers` is [M, 2] of x, y in pixels; `reach` is their radius.
    """

    ink: int
    centers: np.ndarray
    spans: np.ndarray
    thickness: float
    markers: np.ndarray
    reach: float

    @property
    def columns(self) -> np.ndarray:
        return np.flatnonzero(~np.isnan(self.centers))


def trace(
    labels: np.ndarray, ink: int, region, hidden: np.ndarray, cover: np.ndarray
) -> Course | None:
    """Follows a line through a region; None if the ink is too short, thick or scattered.

    labels: [H, W] int16; hidden: [H, W] bool, where the legend and texts are
    cover: [H, W] from 0 to 1, how much of a pixel the line covers
    """
    left, top, right, bottom = (int(v) for v in region)
    mask = (labels[top:bottom, left:right] == ink) & ~hidden[top:bottom, left:right]
    if mask.sum() < 20:
        return None
    height, width = mask.shape
    part = np.where(hidden[top:bottom, left:right], 0, cover[top:bottom, left:right])
    centers = np.full(labels.shape[1], np.nan)
    spans = np.zeros(labels.shape[1])
    starts, ends, owners = _runs_by_column(mask)
    if len(starts) == 0:
        return None
    by_column: list[list[tuple[int, int]]] = [[] for _ in range(width)]
    for start, end, column in zip(starts, ends, owners):
        by_column[column].append((int(start), int(end)))
    for column, low, high in _best_path(by_column):
        centers[left + column] = _middle(part[:, column], low, high)
        spans[left + column] = high - low
    known = np.flatnonzero(~np.isnan(centers))
    if len(known) < max(12, 0.1 * width):
        return None
    lengths = spans[known]
    thickness = float(np.percentile(lengths, 25))
    if thickness > 12 or len(known) < 0.35 * (known[-1] - known[0] + 1):
        return None
    centers += top
    markers, reach = _markers(mask, thickness)
    if len(markers):
        markers = markers + [left, top]
    return Course(ink, centers, spans, thickness, markers, reach)


def _runs_by_column(mask: np.ndarray):
    turned = np.pad(mask.T.astype(np.int8), ((0, 0), (1, 1)))
    edges = np.diff(turned, axis=1)
    columns, starts = np.nonzero(edges == 1)
    _, ends = np.nonzero(edges == -1)
    return starts, ends, columns


def _best_path(by_column: list[list[tuple[int, int]]]) -> list[tuple[int, int, int]]:
    """The chain of runs, one a column, that holds most ink for the least jumps: column, low, high.

    Viterbi's algorithm from left to right. Runs of one line overlap from column to column; where
    another line or a text hides it, it may go on up to 40 columns later.
    """
    runs = [(c, low, high) for c, column in enumerate(by_column) for low, high in column]
    score = [0.0] * len(runs)
    back = [-1] * len(runs)
    first: list[int] = []
    start = 0
    for index, (column, low, high) in enumerate(runs):
        while runs[start][0] < column - 40:
            start += 1
        if index == 0 or runs[index - 1][0] != column:
            # Those of the last columns that had any; further ones only where these are empty.
            recent = [k for k in range(start, index) if runs[k][0] < column]
            columns = sorted({runs[k][0] for k in recent})[-6:]
            first = [k for k in recent if runs[k][0] in columns]
        best, chosen = 0.0, -1
        for k in first:
            before, other_low, other_high = runs[k]
            ahead = column - before
            jump = max(0, low - other_high, other_low - high)
            bend = 0.0 if ahead == 1 else 0.15 * abs(low + high - other_low - other_high) / ahead
            value = score[k] - 1.2 * max(0, jump - 2 * (ahead - 1)) - 0.4 * (ahead - 1) - bend
            if value > best:
                best, chosen = value, k
        score[index] = best + min(high - low, 12)
        back[index] = chosen
    path = []
    index = max(range(len(runs)), key=lambda k: score[k])
    while index >= 0:
        path.append(runs[index])
        index = back[index]
    return path


def _middle(cover: np.ndarray, low: int, high: int) -> float:
    """Center of the run [low, high) of a column, with its half-covered ends."""
    start, end = max(0, low - 1), min(len(cover), high + 1)
    weights = cover[start:end].copy()
    weights[weights < 0.08] = 0
    total = float(weights.sum())
    if total < 0.5 * (high - low):
        return (low + high) / 2
    return float((weights * (np.arange(start, end) + 0.5)).sum()) / total


def _markers(mask: np.ndarray, thickness: float) -> tuple[np.ndarray, float]:
    """Centers [M, 2] of blobs thicker than the line, and their radius; empty if there are none."""
    filled = cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8))
    depth = cv2.distanceTransform(cv2.copyMakeBorder(filled, 1, 1, 1, 1, 0), cv2.DIST_L2, 5)[
        1:-1, 1:-1
    ]
    high = float(depth.max())
    if high < max(2.0, 0.75 * thickness + 0.6):
        return np.zeros((0, 2)), 0.0
    seeds = (depth >= 0.72 * high).astype(np.uint8)
    count, _, stats, middles = cv2.connectedComponentsWithStats(seeds, connectivity=8)
    if count < 3 or count > 400:
        return np.zeros((0, 2)), 0.0
    size = np.median(stats[1:count, cv2.CC_STAT_AREA])
    good = [k for k in range(1, count) if stats[k, cv2.CC_STAT_AREA] < 6 * size + 10]
    centers = middles[good]
    return centers[np.argsort(centers[:, 0])] + 0.5, high


def height_at(course: Course, place: float, spacing: float) -> tuple[float, float] | None:
    """The row of a line at a column, and how sure it is; None beyond its ends.

    Left and right of the place straight lines are fitted, because a corner drawn with a thick pen
    reaches further than the data. Where a marker sits, its center is taken.
    """
    columns = course.columns
    # Markers of another color hide the ends of a line.
    if place < columns[0] - 7 or place > columns[-1] + 8:
        return None
    if len(course.markers):
        away = np.abs(course.markers[:, 0] - place)
        nearest = int(away.argmin())
        if away[nearest] < max(2.0, 0.6 * course.reach):
            return float(course.markers[nearest, 1]), 0.97
    inner = 1.0 + course.thickness / 2 + (course.reach if len(course.markers) else 0)
    outer = max(inner + 3, min(inner + 12, 0.45 * spacing))
    fits = [fit for side in (-1, 1) if (fit := _side_fit(course, place, side, inner, outer))]
    here = columns[np.abs(columns + 0.5 - place) <= 1.0]
    middle = float(course.centers[here].mean()) if len(here) else None
    if not fits:
        return None if middle is None else (middle, 0.6)
    if len(fits) == 2 and abs(fits[0][0] - fits[1][0]) < 3 + 0.1 * abs(fits[0][2] - fits[1][2]):
        # On a straight or smooth stretch the center itself is best.
        if middle is not None and abs(fits[0][2] - fits[1][2]) < 0.15:
            return middle, 0.95
        return (fits[0][0] + fits[1][0]) / 2, 0.95
    if middle is not None and len(fits) == 2:
        return middle, 0.7
    best = min(fits, key=lambda fit: fit[1])
    return best[0], 0.85 if best[1] < 2 else 0.6


def _side_fit(course: Course, place: float, side: int, inner: float, outer: float):
    """A straight line through one side of a place: its row there, largest residual and slope.

    The stretch is shortened while it is not straight: a corner may be nearer than the next
    label.
    """
    columns = course.columns
    away = side * (columns + 0.5 - place)
    best = None
    for reach in (outer, 0.66 * outer, 0.45 * outer):
        near = columns[(away >= inner) & (away <= max(reach, inner + 2.5))]
        if len(near) < 3:
            continue
        slope, offset = np.polyfit(near + 0.5 - place, course.centers[near], 1)
        spread = float(np.abs(slope * (near + 0.5 - place) + offset - course.centers[near]).max())
        if best is None or spread < 0.5 * best[1]:
            best = (float(offset), spread, float(slope))
        if spread < 0.7:
            break
    return best


def boundary(
    labels: np.ndarray, inks: list[int], region, place: float
) -> tuple[float, float] | None:
    """Top and bottom row of an area around a column, or None if it is not there."""
    left, top, right, bottom = (int(v) for v in region)
    column = int(place)
    found = []
    for near in (column - 2, column - 1, column, column + 1, column + 2):
        if not left <= near < right:
            continue
        rows = np.flatnonzero(np.isin(labels[top:bottom, near], inks))
        if len(rows) >= 2:
            found.append((near + 0.5 - place, rows[0] + top, rows[-1] + 1 + top))
    if not found:
        return None
    data = np.array(found, float)
    return float(np.median(data[:, 1])), float(np.median(data[:, 2]))


def is_area(labels: np.ndarray, ink: int, region, base: float | None) -> bool:
    """Whether an ink fills from a smooth upper edge down to a common base."""
    left, top, right, bottom = (int(v) for v in region)
    mask = labels[top:bottom, left:right] == ink
    filled = mask.sum(0)
    columns = np.flatnonzero(filled > 0)
    if len(columns) < 0.4 * (right - left):
        return False
    tops = mask[:, columns].argmax(0)
    lows = mask.shape[0] - mask[::-1][:, columns].argmax(0)
    solid = filled[columns] / np.maximum(1, lows - tops)
    tall = (lows - tops) > 6
    smooth = np.abs(np.diff(tops)) <= 0.06 * mask.shape[0] + 3
    even = np.abs(lows - np.median(lows)) <= 2.5
    below = np.minimum(lows + 2, mask.shape[0] - 1)
    other = labels[top:bottom, left:right][below, columns]
    based = even | ((other >= 0) & (other != ink))
    return bool(
        solid.mean() > 0.9 and tall.mean() > 0.5 and smooth.mean() > 0.95 and based.mean() > 0.85
    )
