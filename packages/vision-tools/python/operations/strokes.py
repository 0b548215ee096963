"""Separates a line drawing into strokes and signs, and measures how thick its strokes are."""

import cv2
import numpy as np

# A component that is larger than this share of the image is no letter or number.
MAX_SIGN = 0.11


def ink_of(image):
    """The strokes on paper of any color: [H, W] uint8, 255 for ink."""
    paper = np.median(image.reshape(-1, 3), axis=0)
    contrast = np.abs(image.astype(np.float32) - paper).max(axis=2)
    contrast = cv2.GaussianBlur(contrast, (0, 0), 0.6).clip(0, 255).astype(np.uint8)
    level, _ = cv2.threshold(contrast, 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    return ((contrast > max(level, 40)) * 255).astype(np.uint8)


def thickness_of(mask):
    """The usual width of strokes in pixels: of a long stroke, twice its area by its outline."""
    contours, _ = cv2.findContours(mask, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_NONE)
    outline = sum(cv2.arcLength(contour, True) for contour in contours)
    return max(1.0, 2 * float(np.count_nonzero(mask)) / max(outline, 1.0))


def parts_of(mask):
    """The strokes of the drawing [H, W] uint8, the texts beside them as in `grouped`, and dots [x, y]."""
    height, width = mask.shape
    limit = max(18, MAX_SIGN * max(height, width))
    count, labels, stats, centers = cv2.connectedComponentsWithStats(mask, connectivity=8)
    strokes = mask.copy()
    boxes, dots = [], []
    for index in range(1, count):
        left, top, wide, high, area = (int(value) for value in stats[index])
        if max(wide, high) > limit:
            continue
        part = (slice(top, top + high), slice(left, left + wide))
        strokes[part][labels[part] == index] = 0
        is_round = 0.7 < wide / high < 1.43 and area > 0.68 * wide * high
        if is_round and 4 <= max(wide, high) <= 0.5 * limit:
            dots.append([float(centers[index][0]), float(centers[index][1]), max(wide, high)])
        elif max(wide, high) >= 3:
            boxes.append([left, top, left + wide, top + high])
    return strokes, grouped(boxes), dots


def grouped(boxes):
    """Signs that stand side by side as one text: {"box", "members"} with the boxes of its parts."""
    groups = [{"box": box, "members": [box]} for box in sorted(boxes)]
    merged = True
    while merged:
        merged = False
        for i in range(len(groups)):
            j = next((k for k in range(i + 1, len(groups)) if belong(groups[i]["box"], groups[k]["box"])), None)
            if j is None:
                continue
            first, second = groups[i], groups.pop(j)
            first["members"] += second["members"]
            lows, highs = zip(*((box[:2], box[2:]) for box in first["members"]))
            first["box"] = [*np.min(lows, axis=0).tolist(), *np.max(highs, axis=0).tolist()]
            merged = True
            break
    return [one for one in groups if max(one["box"][2] - one["box"][0], one["box"][3] - one["box"][1]) >= 6]


def has_degree_sign(group):
    """Whether the last part of a text is small and high."""
    if len(group["members"]) < 2:
        return False
    _, top, _, bottom = group["box"]
    last = max(group["members"], key=lambda box: box[2])
    high = bottom - top
    return last[3] - last[1] < 0.6 * high and last[3] < top + 0.68 * high


def belong(a, b):
    """Whether two boxes are signs of one text: about a space apart, on one line."""
    high = max(a[3] - a[1], b[3] - b[1])
    gap = max(a[0], b[0]) - min(a[2], b[2])
    overlap = min(a[3], b[3]) - max(a[1], b[1])
    least = min(a[3] - a[1], b[3] - b[1])
    # A degree sign or a prime is small and high; the bars of = are flat.
    return gap < 0.55 * high and overlap > 0.3 * least and high < 4 * max(least, 4)
