"""Points of a line drawing: ends and crossings of lines, dots, where lines meet circles."""

import numpy as np
from operations.straight_lines import frame


class Points:
    """Points with the lines and circles that they lie on; those close together are one."""

    def __init__(self, tolerance):
        self.tolerance = tolerance
        self.items = []

    def add(self, place, lines=(), circles=(), certain=True):
        """certain: an end, a crossing of lines or a dot, which is a point even without a letter."""
        place = np.asarray(place, float)
        near = [one for one in self.items if np.hypot(*(one["place"] - place)) <= self.tolerance]
        if not near:
            one = {"place": place, "weight": 1, "lines": set(), "circles": set(), "certain": False}
            self.items.append(one)
        else:
            one = min(near, key=lambda item: np.hypot(*(item["place"] - place)))
            # A place that only one line knows yields to a crossing.
            if certain or not one["certain"]:
                one["place"] = (one["place"] * one["weight"] + place) / (one["weight"] + 1)
                one["weight"] += 1
        one["lines"].update(lines)
        one["circles"].update(circles)
        one["certain"] = one["certain"] or certain
        return one


def find_points(lines, circles, dots, thickness):
    """All points, with lines and circles by their index."""
    reach = 1.6 * thickness + 5
    points = Points(1.2 * thickness + 4)
    for i, first in enumerate(lines):
        for j in range(i + 1, len(lines)):
            place = crossing(first, lines[j], reach)
            if place is not None:
                points.add(place, (i, j))
    for i, line in enumerate(lines):
        for end in (line[:2], line[2:]):
            if not any(i in one["lines"] and near(one, end, 2 * reach) for one in points.items):
                points.add(end, (i,))
    for index, circle in enumerate(circles):
        for i, line in enumerate(lines):
            for place in meetings(line, circle, reach):
                is_end = min(np.hypot(*(place - line[:2])), np.hypot(*(place - line[2:]))) < 2 * reach
                points.add(place, (i,), (index,), certain=is_end)
    for x, y, _ in dots:
        points.add((x, y))
    attach(points, lines, circles, thickness)
    return points.items


def near(one, place, reach):
    return np.hypot(*(one["place"] - place)) <= reach


def crossing(first, second, reach):
    """Where two segments meet, each made longer by `reach`; None if they do not."""
    start, way, length = frame(first)
    other, direction, distance = frame(second)
    sine = way[0] * direction[1] - way[1] * direction[0]
    if abs(sine) < 0.05:
        return None
    step = other - start
    along = (step[0] * direction[1] - step[1] * direction[0]) / sine
    across = (step[0] * way[1] - step[1] * way[0]) / sine
    # Lines at a small angle overlap for longer than their thickness.
    slack = reach / max(abs(sine), 0.25)
    if -slack <= along <= length + slack and -slack <= across <= distance + slack:
        return start + along * way
    return None


def meetings(line, circle, reach):
    """Where a segment meets a circle; where it touches, once."""
    start, way, length = frame(line)
    center, radius = np.asarray(circle[:2]), circle[2]
    middle = (center - start) @ way
    off = center - start - middle * way
    square = radius**2 - off @ off
    tolerance = 2 * radius * reach * 0.35
    if square < -tolerance:
        return []
    steps = [0.0] if square < tolerance else [-np.sqrt(square), np.sqrt(square)]
    at = [middle + step for step in steps]
    return [start + one * way for one in at if -reach <= one <= length + reach]


def attach(points, lines, circles, thickness):
    """Adds to every point all lines and circles that it lies on."""
    for one in points.items:
        for index, line in enumerate(lines):
            start, way, length = frame(line)
            step = one["place"] - start
            along, across = step @ way, abs(step[0] * way[1] - step[1] * way[0])
            slack = 1.6 * thickness + 6
            if across <= 0.9 * thickness + 2.5 and -slack <= along <= length + slack:
                one["lines"].add(index)
        for index, (x, y, radius) in enumerate(circles):
            distance = np.hypot(one["place"][0] - x, one["place"][1] - y)
            if abs(distance - radius) <= 0.8 * thickness + 3:
                one["circles"].add(index)


def dots_on(strokes, thickness):
    """Dots that mark points on strokes: places where the ink is much wider than a stroke."""
    import cv2

    distance = cv2.distanceTransform(strokes, cv2.DIST_L2, 5)
    # Where arrows meet a line it is 1.3 times as wide as a stroke.
    wide = (distance > 1.4 * thickness).astype(np.uint8)
    count, _, stats, centers = cv2.connectedComponentsWithStats(wide, connectivity=8)
    return [
        [float(centers[index][0]), float(centers[index][1]), 0]
        for index in range(1, count)
        if max(stats[index][2], stats[index][3]) <= 4 * thickness + 8
    ]
