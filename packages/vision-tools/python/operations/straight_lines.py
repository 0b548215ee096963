"""Finds the straight strokes of a drawing, and how far each reaches."""

import cv2
import numpy as np


def find_lines(strokes, free, thickness):
    """Segments [x, y, x, y] in floats, the longest first.

    strokes: [H, W] uint8, what is drawn without signs
    free: the same without circles; lines are looked for here, and followed in `strokes`
    """
    height, width = strokes.shape
    shortest = max(14.0, 0.04 * max(height, width), 3 * thickness)
    near = cv2.dilate(strokes, np.ones((3, 3), np.uint8))
    rest = free.copy()
    found = []
    for _ in range(60):
        candidate = longest(rest, shortest, thickness)
        if candidate is None:
            break
        line = refine(candidate, strokes, thickness)
        reach = None if line is None else follow(line, near, thickness)
        ok = reach is not None and np.hypot(*(reach[2:] - reach[:2])) >= shortest
        if ok and is_straight(reach, strokes, thickness) and not is_known(reach, found, thickness):
            found.append(reach)
            erase(rest, reach, thickness)
        else:
            erase(rest, np.array(candidate, float), thickness)
    return sorted(found, key=lambda one: -np.hypot(*(one[2:] - one[:2])))


def longest(mask, shortest, thickness):
    lines = cv2.HoughLinesP(
        mask,
        1,
        np.pi / 360,
        threshold=max(10, round(shortest * 0.6)),
        minLineLength=shortest,
        maxLineGap=2 * thickness + 3,
    )
    if lines is None:
        return None
    lines = lines.reshape(-1, 4).astype(float)
    return max(lines, key=lambda one: np.hypot(one[2] - one[0], one[3] - one[1]))


def refine(line, mask, thickness):
    """The line through the middle of the ink around it, twice; None if there is too little."""
    line = np.asarray(line, float)
    for band in (1.5 * thickness + 2, 0.8 * thickness + 1):
        points = ink_near(line, mask, band)
        if len(points) < 8:
            return None
        center = points.mean(axis=0)
        _, vectors = np.linalg.eigh(np.cov((points - center).T))
        way = vectors[:, 1]
        along = (points - center) @ way
        line = np.concatenate([center + along.min() * way, center + along.max() * way])
    return line


def ink_near(line, mask, band):
    """Ink within a band around a segment: [N, 2] as x, y."""
    pad = band + 2
    left, top = np.floor(np.minimum(line[:2], line[2:]) - pad).astype(int).clip(0)
    right, bottom = np.ceil(np.maximum(line[:2], line[2:]) + pad).astype(int)
    ys, xs = np.nonzero(mask[top:bottom, left:right])
    points = np.stack([xs + left, ys + top], axis=1).astype(float)
    start, way, length = frame(line)
    along = (points - start) @ way
    across = (points - start) @ np.array([-way[1], way[0]])
    return points[(np.abs(across) <= band) & (along >= -1) & (along <= length + 1)]


def frame(line):
    start = np.asarray(line[:2], float)
    step = np.asarray(line[2:], float) - start
    length = max(float(np.hypot(*step)), 1e-6)
    return start, step / length, length


def sample(mask, points):
    """Whether there is ink at points [N, 2]; outside of the image there is none."""
    at = np.round(points).astype(int)
    height, width = mask.shape
    inside = (at[:, 0] >= 0) & (at[:, 1] >= 0) & (at[:, 0] < width) & (at[:, 1] < height)
    found = np.zeros(len(points), bool)
    found[inside] = mask[at[inside, 1], at[inside, 0]] > 0
    return found


def follow(line, near, thickness):
    """The stretch of ink along a line that its middle belongs to; gaps as wide as a stroke close."""
    start, way, length = frame(line)
    reach = max(near.shape)
    positions = np.arange(-reach, length + reach, 1.0)
    ink = sample(near, start + positions[:, None] * way)
    gap = round(2 * thickness + 3)
    middle = int(reach + length / 2)
    if not ink[max(0, middle - gap) : middle + gap].any():
        return None
    low = edge(ink, middle, -1, gap)
    high = edge(ink, middle, 1, gap)
    # Ink was widened by a pixel on each side.
    low, high = positions[low] + 1, positions[high] - 1
    return np.concatenate([start + low * way, start + high * way])


def edge(ink, at, step, gap):
    last, empty = at, 0
    while 0 <= at + step < len(ink) and empty <= gap:
        at += step
        if ink[at]:
            last, empty = at, 0
        else:
            empty += 1
    return last


def is_straight(line, mask, thickness):
    """Whether the ink follows the line everywhere; a piece of a circle bends away from it."""
    start, way, length = frame(line)
    across = np.array([-way[1], way[0]])
    offsets = np.arange(-(thickness + 4), thickness + 4.5, 0.5)
    positions = np.linspace(0.04 * length, 0.96 * length, 25)
    middles = []
    for position in positions:
        ink = sample(mask, start + position * way + offsets[:, None] * across)
        if ink.any():
            # If there are several strokes, only the one at the line counts.
            runs = np.split(np.nonzero(ink)[0], np.nonzero(np.diff(np.nonzero(ink)[0]) > 1)[0] + 1)
            middles.append(min((offsets[run].mean() for run in runs), key=abs))
    if len(middles) < 20:
        return False
    outer = np.mean(middles[:5] + middles[-5:])
    bend = abs(np.mean(middles[10:15]) - outer)
    return bend < 0.35 * thickness + 0.9 and np.median(np.abs(middles)) < 0.4 * thickness + 1.2


def is_known(line, found, thickness):
    """Whether a line lies on one that was found before."""
    start, way, length = frame(line)
    for other in found:
        base, direction, reach = frame(other)
        normal = np.array([-direction[1], direction[0]])
        ends = np.abs((np.stack([line[:2], line[2:]]) - base) @ normal)
        along = (np.stack([line[:2], line[2:]]) - base) @ direction
        inside = min(along.max(), reach) - max(along.min(), 0)
        if ends.max() < 1.3 * thickness + 2 and inside > 0.7 * length:
            return True
    return False


def ended_at_circles(line, circles, thickness):
    """A tangent that ends where it touches seems to go on, as the circle leaves it slowly."""
    line = np.array(line, float)
    for x, y, radius in circles:
        start, way, _ = frame(line)
        center = np.array([x, y])
        touch = start + ((center - start) @ way) * way
        if abs(np.hypot(*(touch - center)) - radius) > 0.8 * thickness + 3:
            continue
        beyond = np.sqrt(2 * radius * (thickness + 4)) + 4
        for end in (slice(0, 2), slice(2, 4)):
            if np.hypot(*(line[end] - touch)) < beyond:
                line[end] = touch
    return line


def erase(mask, line, thickness):
    ends = [tuple(int(round(value)) for value in end) for end in (line[:2], line[2:])]
    cv2.line(mask, *ends, 0, int(np.ceil(thickness + 2)))
