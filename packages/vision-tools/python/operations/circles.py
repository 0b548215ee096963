"""Finds the circles of a line drawing."""

import cv2
import numpy as np
from operations.straight_lines import sample

# This share of a circle must be drawn. Where lines touch it, there is ink anyway.
MIN_COVERAGE = 0.82
TRIES = 6000


def find_circles(strokes, thickness):
    """Circles [x, y, r] in floats.

    strokes: [H, W] uint8, what is drawn without signs
    """
    height, width = strokes.shape
    smallest, largest = 0.06 * min(height, width), 0.75 * max(height, width)
    near = cv2.dilate(strokes, np.ones((3, 3), np.uint8))
    rest = strokes.copy()
    found = []
    for _ in range(4):
        circle = next_circle(rest, near, strokes, thickness, smallest, largest)
        if circle is None:
            break
        found.append(circle)
        x, y, radius = circle
        center = (int(round(x)), int(round(y)))
        cv2.circle(rest, center, int(round(radius)), 0, int(np.ceil(thickness + 4)))
    return found


def next_circle(rest, near, strokes, thickness, smallest, largest):
    ys, xs = np.nonzero(thinned(rest))
    if len(xs) < 30:
        return None
    points = np.stack([xs, ys], axis=1).astype(float)
    random = np.random.default_rng(7)
    triples = points[random.integers(0, len(points), (TRIES, 3))]
    circles = through(triples)
    keep = (circles[:, 2] > smallest) & (circles[:, 2] < largest)
    circles = circles[keep]
    if len(circles) == 0:
        return None
    # A first look with few directions, then a closer one at the best.
    first = coverage(circles, near, 48)
    best = circles[np.argsort(-first)[:12]]
    refined = [fitted(circle, strokes, thickness) for circle in best]
    refined = np.array([circle for circle in refined if circle is not None])
    if len(refined) == 0:
        return None
    shares = coverage(refined, near, 360)
    index = int(np.argmax(shares))
    return refined[index] if shares[index] >= MIN_COVERAGE else None


def thinned(mask):
    """About the middle of strokes: where the distance to paper is largest."""
    distance = cv2.distanceTransform(mask, cv2.DIST_L2, 3)
    ridge = (distance >= cv2.dilate(distance, np.ones((3, 3))) - 0.4) & (mask > 0)
    return ridge


def through(triples):
    """The circles through three points each: [N, 3] as x, y, r; nan where they lie on a line."""
    a, b, c = triples[:, 0], triples[:, 1], triples[:, 2]
    u, v = b - a, c - a
    twice = 2 * (u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0])
    twice = np.where(np.abs(twice) < 1e-6, np.nan, twice)
    uu, vv = (u * u).sum(axis=1), (v * v).sum(axis=1)
    x = (v[:, 1] * uu - u[:, 1] * vv) / twice
    y = (u[:, 0] * vv - v[:, 0] * uu) / twice
    circles = np.stack([a[:, 0] + x, a[:, 1] + y, np.hypot(x, y)], axis=1)
    return circles[~np.isnan(circles).any(axis=1)]


def coverage(circles, near, count):
    """The share of each circle that is drawn: [N]."""
    angles = np.linspace(0, 2 * np.pi, count, endpoint=False)
    xs = circles[:, 0:1] + circles[:, 2:3] * np.cos(angles)
    ys = circles[:, 1:2] + circles[:, 2:3] * np.sin(angles)
    ink = sample(near, np.stack([xs.ravel(), ys.ravel()], axis=1))
    return ink.reshape(len(circles), count).mean(axis=1)


def fitted(circle, strokes, thickness):
    """The circle through the middle of the ink around it, by least squares, three times."""
    angles = np.linspace(0, 2 * np.pi, 240, endpoint=False)
    ways = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    for band in (thickness + 5, thickness + 3, thickness + 1.5):
        x, y, radius = circle
        offsets = np.arange(-band, band + 0.5, 0.5)
        at = radius + offsets
        grid = np.array([x, y]) + ways[:, None, :] * at[None, :, None]
        ink = sample(strokes, grid.reshape(-1, 2)).reshape(len(angles), len(offsets))
        has = ink.any(axis=1)
        if has.sum() < 60:
            return None
        middles = (ink * at).sum(axis=1)[has] / ink.sum(axis=1)[has]
        points = np.array([x, y]) + ways[has] * middles[:, None]
        system = np.column_stack([2 * points, np.ones(len(points))])
        solution, *_ = np.linalg.lstsq(system, (points**2).sum(axis=1), rcond=None)
        square = solution[2] + solution[0] ** 2 + solution[1] ** 2
        if square <= 0:
            return None
        circle = np.array([solution[0], solution[1], np.sqrt(square)])
    return circle


def without_circles(strokes, circles, thickness):
    free = strokes.copy()
    for x, y, radius in circles:
        center = (int(round(x)), int(round(y)))
        cv2.circle(free, center, int(round(radius)), 0, int(np.ceil(thickness + 3)))
    return free
