"""Reads a geometry diagram: points, lines, circles, marks and measures.

`run({}, [image])` gives

    points    {name: [x, y]}; a point without a letter is called U1, U2, …
    lines     [[name, …]] in order along each straight stroke
    circles   [{"name", "center": [x, y], "radius", "points": [name, …]}]
    right     [[a, vertex, b]] corners with a small square
    ticks     [{"segment": [a, b], "kind": "tick" | "arrow", "count"}]
    arcs      [{"corner": [a, vertex, b], "count"}]
    lengths   [{"segment": [a, b], "text"}]
    angles    [{"corner": [a, vertex, b], "text"}] in degrees
    unread    [text] that belongs to nothing

Coordinates are pixels of the image.
"""

import cv2
import numpy as np
from declined import Declined
from operations import ocr
from operations.circles import find_circles, without_circles
from operations.figure_labels import (
    find_angle,
    find_length,
    measure_text,
    name_points,
    read_signs,
)
from operations.junctions import dots_on, find_points
from operations.marks import arcs, corners, right_angles, ticks
from operations.straight_lines import ended_at_circles, find_lines, frame
from operations.strokes import ink_of, parts_of, thickness_of
from recent import Recent

RECENT = Recent(32)
MAX_LINES = 40


def warm():
    ocr.warm()


def run(params, images):
    return RECENT.get(images[0], read_figure), []


def read_figure(image):
    image, scale = workable(image)
    ink = ink_of(image)
    strokes, texts, dots = parts_of(ink)
    if not strokes.any():
        raise Declined("NothingFound", "The image shows no line drawing.")
    thickness = thickness_of(strokes)
    circles = find_circles(strokes, thickness)
    lines = find_lines(strokes, without_circles(strokes, circles, thickness), thickness)
    lines = [ended_at_circles(line, circles, thickness) for line in lines]
    if len(lines) > MAX_LINES or not (lines or circles):
        raise Declined("NothingFound", "The image shows no diagram of lines and circles.")
    items = find_points(lines, circles, dots + dots_on(strokes, thickness), thickness)
    add_centers(items, circles, thickness)
    signs = read_signs(image, texts)
    heights = [sign["box"][3] - sign["box"][1] for sign in signs]
    height = float(np.median(heights)) if heights else 16.0
    left = name_points(signs, items, height)
    items = named(items)
    return described(items, lines, circles, strokes, left, height, thickness, scale)


def workable(image):
    """Small images are doubled; strokes of one pixel have no middle."""
    side = max(image.shape[:2])
    scale = 2.0 if side < 420 else 0.5 if side > 2400 else 1.0
    if scale == 1.0:
        return image, scale
    how = cv2.INTER_CUBIC if scale > 1 else cv2.INTER_AREA
    return cv2.resize(image, None, fx=scale, fy=scale, interpolation=how), scale


def add_centers(items, circles, thickness):
    """The center of a circle is a point if something is there: a dot or lines; or it gets a letter."""
    for index, (x, y, _) in enumerate(circles):
        place = np.array([x, y])
        near = [one for one in items if np.hypot(*(one["place"] - place)) < 2 * thickness + 6]
        if near:
            near[0]["center"] = index
        else:
            items.append(
                {"place": place, "weight": 1, "lines": set(), "circles": set(), "certain": False, "center": index}
            )


def named(items):
    """Points that have a letter, or are needed without one."""
    kept = [item for item in items if "name" in item or item["certain"]]
    count = 0
    for item in sorted(kept, key=lambda one: (one["place"][1], one["place"][0])):
        if "name" not in item:
            count += 1
            item["name"] = f"U{count}"
    return kept


def described(items, lines, circles, strokes, signs, height, thickness, scale):
    points = {item["name"]: item["place"] for item in items}
    chains = [chain for chain in (chain_of(index, line, items) for index, line in enumerate(lines)) if len(chain) > 1]
    neighbors = {name: set() for name in points}
    for chain in chains:
        for a, b in zip(chain, chain[1:]):
            neighbors[a].add(b)
            neighbors[b].add(a)
    segments = [(a, b) for chain in chains for i, a in enumerate(chain) for b in chain[i + 1 :]]
    steps = [(a, b) for chain in chains for a, b in zip(chain, chain[1:])]
    near = cv2.dilate(strokes, np.ones((3, 3), np.uint8))
    right = right_angles(points, neighbors, near, thickness)
    blocked = {tuple(corner) for corner in right}
    arc_marks = arcs(points, neighbors, near, thickness, blocked)
    lengths, angles, unread = measures(signs, segments, points, neighbors, arc_marks, height)
    rounded = {name: [round(float(v) / scale, 2) for v in place] for name, place in points.items()}
    return {
        "points": rounded,
        "lines": chains,
        "circles": [circle_of(index, circle, items, scale) for index, circle in enumerate(circles)],
        "right": right,
        "ticks": ticks(steps, points, near, thickness, circles),
        "arcs": [{"corner": mark["corner"], "count": mark["count"]} for mark in arc_marks],
        "lengths": lengths,
        "angles": angles,
        "unread": unread,
    }


def chain_of(index, line, items):
    start, way, _ = frame(line)
    on = [item for item in items if index in item["lines"]]
    return [item["name"] for item in sorted(on, key=lambda one: float((one["place"] - start) @ way))]


def circle_of(index, circle, items, scale):
    center = next((item["name"] for item in items if item.get("center") == index), None)
    return {
        "name": center,
        "center": [round(float(value) / scale, 2) for value in circle[:2]],
        "radius": round(float(circle[2]) / scale, 2),
        "points": [item["name"] for item in items if index in item["circles"]],
    }


def measures(signs, segments, points, neighbors, arc_marks, height):
    """Every text that is a measure goes to the segment or corner that it stands nearest to."""
    all_corners = list(corners(points, neighbors))
    arc_of = {tuple(mark["corner"]): mark for mark in arc_marks}
    lengths, angles, unread = [], [], []
    for sign in signs:
        read = measure_text(sign["text"])
        if read is None:
            unread.append(sign["text"])
            continue
        text, is_degrees = read
        length = None if is_degrees else find_length(sign, segments, points, height)
        angle = find_angle(sign, all_corners, points, arc_of, height)
        if not is_degrees and angle is not None and tuple(angle[1]) not in arc_of:
            angle = None
        if angle is not None and (length is None or angle[0] < length[0]):
            angles.append({"corner": angle[1], "text": text})
        elif length is not None:
            lengths.append({"segment": length[1], "text": text})
        else:
            unread.append(sign["text"])
    return lengths, angles, unread
