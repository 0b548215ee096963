"""Separates a thing from its surroundings, prompted by a box, points or an earlier mask.

`run({"box": [l, t, r, b], "points": [[x, y]], "labels": [1], "hasMask": false, "output": "overlay",
"index": 0, "isMultiple": true}, [image, mask?])` gives `{"masks": [{"box", "area", "score"}], "index"}`,
largest score first, and the overlay or the mask of one of them. Box, points or mask is there.

A box is segmented by GrabCut (Rother, Kolmogorov & Blake 2004). For points there are two ways: regions
around them whose area stays the same over a wide range of colors, as MSER finds them (Matas et al.
2002), and their basin in a watershed of the edges.
"""

import cv2
import numpy as np
from declined import Declined

WORK_SIDE = 256
MASKS = 3
TINT = np.array([30, 144, 255], dtype=np.float32)
LEVELS = np.arange(4, 61, 2)


def cropped(image, box, margin):
    """The part of an image around a box, scaled down to work on, and how to get back."""
    height, width = image.shape[:2]
    grow_x, grow_y = margin * (box[2] - box[0]), margin * (box[3] - box[1])
    left, top = max(0, int(box[0] - grow_x)), max(0, int(box[1] - grow_y))
    right, bottom = min(width, int(box[2] + grow_x) + 1), min(height, int(box[3] + grow_y) + 1)
    part = image[top:bottom, left:right]
    scale = min(1.0, WORK_SIDE / max(part.shape[:2]))
    size = max(1, round(part.shape[1] * scale)), max(1, round(part.shape[0] * scale))
    small = cv2.resize(part, size, interpolation=cv2.INTER_AREA) if scale < 1 else part
    return np.ascontiguousarray(small), (left, top, right, bottom), scale


def restored(mask, place, shape):
    """A mask of a part, on the whole image: [H, W] bool."""
    left, top, right, bottom = place
    whole = np.zeros(shape[:2], dtype=bool)
    large = cv2.resize(mask.astype(np.float32), (right - left, bottom - top))
    whole[top:bottom, left:right] = large >= 0.5
    return whole


def overlap(one, other):
    """Intersection over union of two masks."""
    union = np.count_nonzero(one | other)
    return np.count_nonzero(one & other) / union if union else 0.0


def tidy(mask, seeds=()):
    """Without specks and holes; of several parts those with a seed, else those of some size."""
    filled = mask.astype(np.uint8)
    contours, _ = cv2.findContours(filled, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    areas = [cv2.contourArea(contour) for contour in contours]
    out = np.zeros_like(filled)
    for contour, area in zip(contours, areas):
        has_seed = any(cv2.pointPolygonTest(contour, seed, False) >= 0 for seed in seeds)
        if has_seed or (not seeds and area >= 0.1 * max(areas)):
            cv2.drawContours(out, [contour], -1, 1, -1)
    # A hole stays a hole if it is more than a speck of what is around it.
    holes = (out == 1) & (filled == 0)
    count, labels, stats, _ = cv2.connectedComponentsWithStats(holes.astype(np.uint8), connectivity=4)
    for label in range(1, count):
        if stats[label, cv2.CC_STAT_AREA] > 0.15 * max(out.sum(), 1):
            out[labels == label] = 0
    return out.astype(bool)


def by_grabcut(image, box, points, labels, mask):
    """One mask for a box or a mask, with points that are certain: [(mask, score)]."""
    small, place, scale = cropped(image, box, 0.4)

    def local(x, y):
        return (x - place[0]) * scale, (y - place[1]) * scale

    marks = np.full(small.shape[:2], cv2.GC_BGD, dtype=np.uint8)
    left, top = (max(0, round(side)) for side in local(*box[:2]))
    right, bottom = (max(1, round(side)) for side in local(*box[2:]))
    marks[top:bottom, left:right] = cv2.GC_PR_FGD
    if mask is not None:
        part = mask[place[1] : place[3], place[0] : place[2]].astype(np.uint8)
        part = cv2.resize(part, small.shape[1::-1], interpolation=cv2.INTER_NEAREST)
        marks = np.where(part == 1, cv2.GC_PR_FGD, cv2.GC_PR_BGD).astype(np.uint8)
    radius = max(1, round(0.01 * max(small.shape)))
    for (x, y), label in zip(points, labels):
        spot = tuple(round(side) for side in local(x, y))
        cv2.circle(marks, spot, radius, cv2.GC_FGD if label else cv2.GC_BGD, -1)
    if not (marks % 2 == 1).any() or not (marks % 2 == 0).any():
        whole = restored(marks % 2 == 1, place, image.shape)
        return [(whole, 0.0)]
    models = np.zeros((1, 65)), np.zeros((1, 65))
    # The clusters that GrabCut starts with are drawn at random.
    cv2.setRNGSeed(1)
    bgr = np.ascontiguousarray(small[:, :, ::-1])
    cv2.grabCut(bgr, marks, None, *models, 3, cv2.GC_INIT_WITH_MASK)
    early = marks % 2 == 1
    cv2.grabCut(bgr, marks, None, *models, 3, cv2.GC_EVAL)
    late = tidy(marks % 2 == 1)
    return [(restored(late, place, image.shape), overlap(tidy(early), late))]


def by_points(image, points, labels):
    """Up to three masks around points, best first: [(mask, score)]."""
    height, width = image.shape[:2]
    small, place, scale = cropped(image, (0, 0, width, height), 0)
    spots = [
        (min(int(x * scale), small.shape[1] - 1), min(int(y * scale), small.shape[0] - 1))
        for x, y in points
    ]
    inside = [spot for spot, label in zip(spots, labels) if label]
    outside = [spot for spot, label in zip(spots, labels) if not label]
    smooth = cv2.medianBlur(small, 5) if min(small.shape[:2]) > 5 else small
    lab = cv2.cvtColor(smooth, cv2.COLOR_RGB2LAB).astype(np.float32)
    seeds = [tuple(map(float, spot)) for spot in inside]
    regions = steady_regions(lab, inside, outside)
    regions.append(by_edges(small, lab, inside, outside))
    candidates = [(tidy(region, seeds), steady) for region, steady in regions]
    scored = [(mask, steady * (1 - framed(mask))) for mask, steady in candidates if mask.any()]
    found = []
    for mask, score in sorted(scored, key=lambda one: -round(one[1], 4)):
        if all(overlap(mask, other) < 0.8 for other, _ in found):
            found.append((mask, score))
    if not found:
        raise Declined("NothingFound", "Points inside and outside have one color. Move them apart.")
    return [(restored(mask, place, image.shape), score) for mask, score in found[:MASKS]]


def framed(mask):
    """The share of the image's frame that a mask covers: surroundings cover much, a thing little."""
    frame = np.concatenate([mask[0], mask[-1], mask[:, 0], mask[:, -1]])
    return float(frame.mean())


def steady_regions(lab, inside, outside):
    """Regions around points that change least as the range of colors grows: [(region, steadiness)]."""
    distance = np.full(lab.shape[:2], np.inf, dtype=np.float32)
    for x, y in inside:
        distance = np.minimum(distance, np.linalg.norm(lab - lab[y, x], axis=2))
    grown = []
    for level in LEVELS:
        _, parts = cv2.connectedComponents((distance <= level).astype(np.uint8), connectivity=4)
        region = np.isin(parts, [parts[y, x] for x, y in inside]) & (parts > 0)
        if any(region[y, x] for x, y in outside):
            break
        grown.append(region)
    areas = [max(1, np.count_nonzero(region)) for region in grown]
    found = []
    for index, region in enumerate(grown):
        before, after = areas[max(0, index - 2)], areas[min(len(areas) - 1, index + 2)]
        # A few pixels are noise, and all of the image is the surroundings.
        if areas[index] >= 12 and areas[index] <= 0.9 * region.size:
            found.append((region, before / after))
    return found


def by_edges(small, lab, inside, outside):
    """The basin around the points in the image's edges, and how sharp its outline is."""
    markers = np.zeros(small.shape[:2], dtype=np.int32)
    markers[0], markers[-1], markers[:, 0], markers[:, -1] = 2, 2, 2, 2
    radius = max(2, round(0.02 * max(small.shape)))
    for spots, label in ((outside, 2), (inside, 1)):
        for spot in spots:
            cv2.circle(markers, spot, radius, label, -1)
    steps = [cv2.Sobel(lab, cv2.CV_32F, *axis) for axis in ((1, 0), (0, 1))]
    edges = np.sqrt(sum((step**2).sum(axis=2) for step in steps))
    gray = np.clip(edges / max(np.percentile(edges, 99), 1) * 255, 0, 255).astype(np.uint8)
    flooded = cv2.watershed(np.ascontiguousarray(np.stack([gray] * 3, axis=-1)), markers)
    region = flooded == 1
    outline = cv2.morphologyEx(region.astype(np.uint8), cv2.MORPH_GRADIENT, np.ones((3, 3))) > 0
    sharp = edges[outline].mean() / (edges[outline].mean() + edges[region].mean() + 1e-6)
    return region, float(sharp) if region.any() else 0.0


def described(mask, score):
    rows, columns = np.nonzero(mask.any(axis=1))[0], np.nonzero(mask.any(axis=0))[0]
    if rows.size == 0:
        return {"box": None, "area": 0, "score": 0.0}
    box = [int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1]
    return {"box": box, "area": int(mask.sum()), "score": round(float(score), 3)}


def overlay(image, mask):
    """The image with the mask tinted blue and outlined."""
    drawn = image.astype(np.float32)
    drawn[mask] = 0.5 * drawn[mask] + 0.5 * TINT
    drawn = np.ascontiguousarray(drawn.round().astype(np.uint8))
    contours, _ = cv2.findContours(mask.astype(np.uint8), cv2.RETR_LIST, cv2.CHAIN_APPROX_NONE)
    cv2.drawContours(drawn, contours, -1, TINT.tolist(), max(1, round(max(image.shape[:2]) / 400)))
    return drawn


def segment(image, box=None, points=(), labels=(), mask=None):
    """Masks, best first: [(mask: [H, W] bool, score)]. Coordinates are pixels of the image."""
    if box is None and mask is None:
        return by_points(image, points, labels)
    if box is None:
        rows, columns = np.nonzero(mask.any(axis=1))[0], np.nonzero(mask.any(axis=0))[0]
        if rows.size == 0:
            raise Declined("NothingFound", "The mask is empty. Give a box or points.")
        box = [int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1]
    return by_grabcut(image, box, points, labels, mask)


def run(params, images):
    image = images[0]
    mask = None
    if params.get("hasMask"):
        if images[1].shape[:2] != image.shape[:2]:
            raise Declined("BadArgument", "The mask has another size than the image.")
        mask = images[1][:, :, 0] > 127
    points, labels = params.get("points", []), params.get("labels", [])
    found = segment(image, params.get("box"), points, labels, mask)
    if not params.get("isMultiple", True):
        found = found[:1]
    index = min(params.get("index", 0), len(found) - 1)
    chosen = found[index][0]
    made = {
        "overlay": lambda: [overlay(image, chosen)],
        "mask": lambda: [chosen.astype(np.uint8) * 255],
        "both": lambda: [overlay(image, chosen), chosen.astype(np.uint8) * 255],
    }[params.get("output", "overlay")]()
    return {"masks": [described(*one) for one in found], "index": index}, made
