"""Marks of a line drawing: right angles, arcs at angles, ticks and arrows on segments."""

import numpy as np
from operations.straight_lines import sample

MAX_MARK = 42


def ray_directions(name, points, neighbors):
    """Directions from a point to its neighbors, in radians counterclockwise, sorted."""
    x, y = points[name]
    rays = [
        (float(np.arctan2(-(points[other][1] - y), points[other][0] - x)), other)
        for other in neighbors[name]
    ]
    return sorted(rays)


def corners(points, neighbors):
    """All corners between rays that follow one another: (a, vertex, b, start, sweep)."""
    for vertex in points:
        rays = ray_directions(vertex, points, neighbors)
        for index, (start, a) in enumerate(rays):
            end, b = rays[(index + 1) % len(rays)]
            sweep = (end - start) % (2 * np.pi)
            if len(rays) > 1 and 0.05 < sweep < np.pi - 0.02:
                yield a, vertex, b, start, sweep


def unit(angle):
    return np.array([np.cos(angle), -np.sin(angle)])


def right_angles(points, neighbors, near, thickness):
    """Corners with a small square: [a, vertex, b]."""
    found = []
    for a, vertex, b, start, sweep in corners(points, neighbors):
        if abs(np.degrees(sweep) - 90) > 12:
            continue
        shortest = min(distance(points[vertex], points[a]), distance(points[vertex], points[b]))
        if has_square(points[vertex], unit(start), unit(start + sweep), shortest, near, thickness):
            found.append([a, vertex, b])
    return found


def distance(a, b):
    return float(np.hypot(a[0] - b[0], a[1] - b[1]))


def has_square(vertex, u, v, shortest, near, thickness):
    vertex = np.asarray(vertex, float)
    for size in np.arange(1.5 * thickness + 4, min(MAX_MARK, 0.7 * shortest), 1.0):
        t = np.linspace(1.2 * thickness + 1, size, max(6, round(size)))[:, None]
        first = sample(near, vertex + size * u + t * v).mean()
        second = sample(near, vertex + size * v + t * u).mean()
        if min(first, second) < 0.93:
            continue
        # Beside the square there is paper: inside of it, and beyond its corner.
        middle = np.linspace(0.35, 0.65, 4)[:, None] * size
        beyond = (size + 1.6 * thickness + 3) * (u + v)
        inside = sample(near, vertex + middle * (u + v)).mean()
        if inside < 0.5 and not sample(near, vertex + beyond[None, :])[0]:
            return True
    return False


def arcs(points, neighbors, near, thickness, blocked):
    """Corners with arcs: {corner: [a, vertex, b], count, radius}; not those in `blocked`."""
    found = []
    for a, vertex, b, start, sweep in corners(points, neighbors):
        if (a, vertex, b) in blocked:
            continue
        shortest = min(distance(points[vertex], points[a]), distance(points[vertex], points[b]))
        radii = arc_radii(points[vertex], start, sweep, shortest, near, thickness)
        if radii:
            found.append({"corner": [a, vertex, b], "count": len(radii), "radius": radii[-1]})
    return found


def arc_radii(vertex, start, sweep, shortest, near, thickness):
    """Radii at which an arc runs from one ray to the other."""
    vertex = np.asarray(vertex, float)
    hits = []
    for radius in np.arange(1.5 * thickness + 6, min(MAX_MARK + 14, 0.75 * shortest), 1.0):
        margin = (0.8 * thickness + 2.2) / radius
        if sweep - 2 * margin < 0.12:
            continue
        angles = np.linspace(start + margin, start + sweep - margin, max(7, round(sweep * radius)))
        ways = np.stack([np.cos(angles), -np.sin(angles)], axis=1)
        # Close to the vertex the rays themselves fill the corner.
        is_open = (sweep - 2 * margin) * radius >= 4
        hits.append((radius, is_open and sample(near, vertex + radius * ways).mean() > 0.92))
    while hits and hits[0][1]:
        hits.pop(0)
    radii, run = [], []
    for radius, hit in hits + [(0, False)]:
        if hit:
            run.append(radius)
        elif run:
            # A filled wedge is no arc.
            if len(run) <= 1.5 * thickness + 5:
                radii.append(float(np.mean(run)))
            run = []
    return radii[:3]


def ticks(segments, points, near, thickness, circles):
    """Short strokes across segments: {segment: [a, b], kind: "tick" or "arrow", count}."""
    found = []
    for a, b in segments:
        start, end = np.asarray(points[a], float), np.asarray(points[b], float)
        length = distance(start, end)
        if length < 6 * thickness + 24:
            continue
        way = (end - start) / length
        crossed = [at for circle in circles for at in circle_crossings(start, way, circle)]
        kind, count = tick_count(start, way, length, near, thickness, crossed)
        if count:
            found.append({"segment": [a, b], "kind": kind, "count": count})
    return found


def circle_crossings(start, way, circle):
    """How far along a line it crosses a circle."""
    step = np.asarray(circle[:2]) - start
    middle = step @ way
    square = circle[2] ** 2 - (step @ step - middle**2)
    return [] if square < 0 else [middle - np.sqrt(square), middle + np.sqrt(square)]


def tick_count(start, way, length, near, thickness, crossed):
    across = np.array([-way[1], way[0]])
    lowest, highest = max(14, 0.22 * length), min(length - 14, 0.78 * length)
    positions = np.arange(lowest, highest, 1.0)
    for at in crossed:
        positions = positions[np.abs(positions - at) > 4 * thickness + 8]
    if len(positions) < 6:
        return "tick", 0
    base = start + positions[:, None] * way
    offset = 0.5 * thickness + 3.5
    sides = [[found_at(base, side * (offset + more) * across, near, positions) for more in (0, 2.6)] for side in (1, -1)]
    widest = 2.2 * thickness + 7
    left, right = ([m for m, wide in side[0] if wide <= widest] for side in sides)
    pairs = []
    for first in left:
        second = min(right, key=lambda one: abs(one - first), default=None)
        if second is not None and abs(first - second) <= 0.9 * offset + 2:
            pairs.append((first + second) / 2)
            right.remove(second)
    if not pairs or len(pairs) > 3 or max(pairs) - min(pairs) > 14 + 8 * thickness:
        return "tick", 0
    return ("arrow" if leans(sides) else "tick"), len(pairs)


def found_at(base, shift, near, positions):
    return runs(sample(near, base + shift), positions)


def leans(sides):
    """Whether both halves of a mark run the same way along the segment: > and not |."""
    shifts = []
    for first, second in sides:
        if not first or not second:
            return False
        shifts.append(np.mean([m for m, _ in second]) - np.mean([m for m, _ in first]))
    return min(abs(shift) for shift in shifts) > 0.8 and shifts[0] * shifts[1] > 0


def runs(row, positions):
    """Stretches of ink: (middle, length)."""
    at = positions[row]
    if len(at) == 0:
        return []
    parts = np.split(at, np.nonzero(np.diff(at) > 1.5)[0] + 1)
    return [(float(part.mean()), len(part)) for part in parts]
