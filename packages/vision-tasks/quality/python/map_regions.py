"""Regions of a map by the colors of its legend. Imported by `read_map`; it has no `run`."""

import cv2
import numpy as np

# Largest difference of a channel to the color of a class.
SAME = 7
# Pixels of borders and letters belong to the nearest region up to this far.
REACH = 7
# A part without this share of the median region is an island or a corner.
LEAST_SHARE = 0.06
# Two regions are neighbors where this many pairs of pixels touch.
TOUCHING = 4


class Regions:
    """labels: [H, W] number of the region, 0 for none; classes: {region: index into the legend}."""

    def __init__(self, labels, classes):
        self.labels = labels
        self.classes = classes
        self.pairs = {pair for pair, places in touching(labels).items() if len(places) >= TOUCHING}

    def at(self, x, y):
        """The region that has most of the pixels around a point; None where there is none."""
        height, width = self.labels.shape
        for radius in (3, 6, 10):
            left, top = max(0, int(x - radius)), max(0, int(y - radius))
            part = self.labels[top : min(height, int(y + radius) + 1), left : min(width, int(x + radius) + 1)]
            found = part[np.isin(part, list(self.classes))]
            if found.size:
                return int(np.bincount(found).argmax())
        return None

    def neighbors(self, region):
        found = {b if a == region else a for a, b in self.pairs if region in (a, b)}
        return {one for one in found if one in self.classes}


def regions_of(image, legend, texts):
    """Parts of one color, with what letters cut apart put together.

    legend: entries with "color" and "left"
    texts:  boxes of names
    """
    height, width = image.shape[:2]
    labels = np.zeros((height, width), np.int32)
    classes, count = {}, 0
    # What is beside the legend's swatches is the legend.
    end = int(legend[0]["left"])
    bottom = int(max(entry["y"] for entry in legend)) + 30
    for index, entry in enumerate(legend):
        mask = np.abs(image.astype(np.int16) - entry["color"]).max(axis=2) <= SAME
        mask[:bottom, end:] = False
        parts, part, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=4)
        for number in range(1, parts):
            if stats[number, cv2.CC_STAT_AREA] < 6:
                continue
            count += 1
            labels[part == number] = count
            classes[count] = index
    page = count + 1
    labels[(np.abs(image.astype(np.int16) - page_color(image)).max(axis=2) <= 3) & (labels == 0)] = page
    labels = spread(labels)
    merged = without_cuts(labels, classes, texts)
    areas = {region: int((merged == region).sum()) for region in classes if (merged == region).any()}
    usual = float(np.median([area for area in areas.values() if area > 40] or [0]))
    kept = {region: classes[region] for region, area in areas.items() if area >= max(12, LEAST_SHARE * usual)}
    return Regions(merged, kept)


def page_color(image):
    colors, counts = np.unique(image.reshape(-1, 3), axis=0, return_counts=True)
    return colors[counts.argmax()].astype(np.int16)


def spread(labels):
    """Every pixel without a label gets the nearest one, up to `REACH` pixels away."""
    empty = (labels == 0).astype(np.uint8)
    far, nearest = cv2.distanceTransformWithLabels(empty, cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL)
    of_zero = np.zeros(int(nearest.max()) + 1, np.int32)
    of_zero[nearest[empty == 0]] = labels[empty == 0]
    return np.where(far <= REACH, of_zero[nearest], 0)


def touching(labels):
    """{(smaller, larger label): [(x, y), …]} of pixels beside each other."""
    found = {}
    for one, other, across in ((labels[:, :-1], labels[:, 1:], (0.5, 0)), (labels[:-1], labels[1:], (0, 0.5))):
        rows, columns = np.nonzero((one != other) & (one > 0) & (other > 0))
        for y, x, a, b in zip(rows, columns, one[rows, columns], other[rows, columns]):
            found.setdefault((int(min(a, b)), int(max(a, b))), []).append((x + across[0], y + across[1]))
    return found


def without_cuts(labels, classes, texts):
    """Labels where parts of one class that touch only under a text are one region."""
    parent = {region: region for region in classes}

    def root(region):
        while parent[region] != region:
            region = parent[region]
        return region

    for (a, b), places in touching(labels).items():
        if classes.get(a) is None or classes.get(a) != classes.get(b):
            continue
        hidden = sum(any(l - 2 <= x <= r + 2 and t - 1 <= y <= d + 1 for l, t, r, d in texts) for x, y in places)
        if hidden >= 0.95 * len(places):
            parent[root(b)] = root(a)
    table = np.arange(int(labels.max()) + 1)
    for region in classes:
        table[region] = root(region)
    return table[labels].astype(np.int32)
