"""Reads a dial, a thermometer or a ruler: where the colored part ends on a scale of numbers.

`run({"question"}, [image])` gives the reading as text, or None where the scale is not read.
"""

import itertools
import re

import cv2
import numpy as np
from operations.enlarged import center, tokens_of


def run(params, images):
    image = images[0]
    numbers = [
        (float(token["text"]), *center(token["box"]))
        for token in tokens_of(image, 1200)
        if re.fullmatch(r"-?\d+(\.\d+)?", token["text"])
    ]
    colored = colored_part(image)
    if len(numbers) < 3 or colored is None:
        return None, []
    read = {"pressure": dial, "voltage": dial, "temperature": thermometer}
    name = re.search(r"What is the (\w+)", params["question"])[1]
    value = read.get(name, ruler)(image, numbers, colored)
    return (None if value is None else plain(value)), []


def plain(value):
    return f"{value:.4f}".rstrip("0").rstrip(".") if abs(value) > 1e-9 else "0"


def colored_part(image):
    """[H, W] the largest part in a strong color."""
    hsv = cv2.cvtColor(image, cv2.COLOR_RGB2HSV)
    mask = ((hsv[:, :, 1] > 95) & (hsv[:, :, 2] > 75)).astype(np.uint8)
    count, labels, stats, _ = cv2.connectedComponentsWithStats(mask)
    if count < 2:
        return None
    return labels == 1 + stats[1:, cv2.CC_STAT_AREA].argmax()


def dark_part(image):
    gray = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    return gray < 130


def straight(numbers):
    """Slope and offset of value over place that most numbers agree with; None where few do."""
    best = None
    for (v1, p1), (v2, p2) in itertools.combinations(numbers, 2):
        if v1 == v2 or abs(p1 - p2) < 1e-6:
            continue
        slope = (v2 - v1) / (p2 - p1)
        agree = [(v, p) for v, p in numbers if abs((v - v1) / slope - (p - p1)) < 0.02 * spread(numbers)]
        if best is None or len(agree) > len(best):
            best = agree
    if best is None or len(best) < 3:
        return None
    values, places = zip(*best)
    return np.polyfit(places, values, 1), best


def spread(numbers):
    places = [place for _, place in numbers]
    return max(places) - min(places)


def on_scale(numbers, ticks, places):
    """The values at some places, each moved to the nearest tick; None where there is no scale."""
    fit = straight(numbers)
    if fit is None or len(ticks) < 3:
        return None
    (slope, offset), agree = fit
    values = sorted(value for value, _ in agree)
    numbered = min(b - a for a, b in zip(values, values[1:]) if b > a)
    gap = float(np.median(np.diff(sorted(ticks))))
    parts = max(1, round(numbered / abs(slope) / gap))
    step = numbered / parts
    return [round((slope * place + offset - values[0]) / step) * step + values[0] for place in places]


def runs(mask):
    """Middles of the runs of True in a row of booleans."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(np.int8), [0]])))
    return [(start + end - 1) / 2 for start, end in zip(edges[::2], edges[1::2])]


def dial(image, numbers, colored):
    """The hub is where the colored part is thickest; the pointer ends farthest from it."""
    depth = cv2.distanceTransform(colored.astype(np.uint8), cv2.DIST_L2, 5)
    y, x = np.unravel_index(depth.argmax(), depth.shape)
    rows, columns = np.nonzero(colored)
    tip = np.hypot(columns - x, rows - y).argmax()

    def turn(px, py):
        return float(np.degrees(np.arctan2(px - x, y - py)))

    pointer = turn(columns[tip], rows[tip])
    placed = [(value, turn(px, py)) for value, px, py in numbers]
    ring = ring_of_ticks(image, (x, y), numbers)
    values = on_scale(placed, ring, [pointer])
    return None if values is None else values[0]


def ring_of_ticks(image, middle, numbers):
    """Degrees clockwise from the top of the ticks: the circle on which most are cut."""
    dark = dark_part(image)
    angles = np.arange(-140, 140, 0.25)
    far = max(np.hypot(px - middle[0], py - middle[1]) for _, px, py in numbers)
    best = []
    for radius in np.arange(0.7 * far, 1.6 * far, 2):
        columns = np.round(middle[0] + np.sin(np.radians(angles)) * radius).astype(int)
        rows = np.round(middle[1] - np.cos(np.radians(angles)) * radius).astype(int)
        inside = (columns >= 0) & (rows >= 0) & (columns < dark.shape[1]) & (rows < dark.shape[0])
        cut = np.zeros(angles.shape, bool)
        cut[inside] = dark[rows[inside], columns[inside]]
        if cut.mean() > 0.5:
            continue
        found = [angles[int(one)] for one in runs(cut)]
        gaps = np.diff(found)
        # Ticks are evenly far apart, letters are not.
        if len(found) > len(best) and np.std(gaps) < 0.25 * np.mean(gaps):
            best = found
    return best


def thermometer(image, numbers, colored):
    rows, columns = np.nonzero(colored)
    # The column is narrow; the bulb below it is wide.
    widths = np.bincount(rows, minlength=image.shape[0])
    narrow = np.median(widths[rows.min() : (rows.min() + rows.max()) // 2])
    x = np.median(columns[rows < rows.min() + 10])
    dark = dark_part(image)
    best = []
    for column in range(int(x + narrow), int(x + 8 * narrow)):
        found = runs(dark[:, min(column, dark.shape[1] - 1)])
        gaps = np.diff(found)
        if len(found) > len(best) and len(gaps) > 1 and np.std(gaps) < 0.25 * np.mean(gaps):
            best = found
    placed = [(value, y) for value, _, y in numbers]
    values = on_scale(placed, best, [rows.min()])
    return None if values is None else values[0]


def ruler(image, numbers, colored):
    rows, columns = np.nonzero(colored)
    dark = dark_part(image)
    best = []
    for row in range(rows.max() + 3, min(rows.max() + 80, dark.shape[0])):
        found = runs(dark[row])
        # Both ends are the ruler's own edge.
        found = found[1:-1]
        gaps = np.diff(found)
        if len(found) > len(best) and len(gaps) > 1 and np.std(gaps) < 0.25 * np.mean(gaps):
            best = found
    placed = [(value, x) for value, x, _ in numbers]
    values = on_scale(placed, best, [columns.min(), columns.max() + 1])
    return None if values is None else values[1] - values[0]
