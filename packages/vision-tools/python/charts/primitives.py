"""Primitives of an image without reading it: regions of one color, and segments."""

import cv2
import numpy as np

from .colors import distance, histogram, labels_of, page_color, to_hex, to_lab


def primitives(rgb: np.ndarray, most: int = 200) -> dict:
    """Regions and straight segments of an [H, W, 3] uint8 RGB image, the largest first.

    most: how many of each are kept; `left` counts the others
    """
    lab = to_lab(rgb)
    page = page_color(lab)
    gap = distance(lab, page)
    height, width = gap.shape
    inks = histogram(lab, gap > 7, max(20, int(0.0001 * height * width)))[:16]
    regions = _regions(labels_of(lab, inks), [to_hex(ink.lab) for ink in inks])
    segments = _segments(rgb, lab)
    return {
        "size": [width, height],
        "page": to_hex(page),
        "regions": regions[:most],
        "segments": segments[:most],
        "left": max(0, len(regions) - most) + max(0, len(segments) - most),
    }


def _regions(labels: np.ndarray, colors: list[str]) -> list[dict]:
    """Connected regions of one color from 20 pixels on, as polygons."""
    found = []
    for index, color in enumerate(colors):
        mask = (labels == index).astype(np.uint8)
        contours, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
        for contour in contours:
            x, y, w, h = cv2.boundingRect(contour)
            area = int(mask[y : y + h, x : x + w].sum())
            if area < 20:
                continue
            outline = cv2.approxPolyDP(contour, 1.0, True)[:, 0]
            found.append(
                {
                    "color": color,
                    "area": area,
                    "box": [x, y, x + w, y + h],
                    "points": [[int(px), int(py)] for px, py in outline[:60]],
                }
            )
    return sorted(found, key=lambda region: -region["area"])


def _segments(rgb: np.ndarray, lab: np.ndarray) -> list[dict]:
    """Straight segments by the probabilistic Hough transform over edges, long ones first."""
    gray = cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY)
    edges = cv2.Canny(gray, 60, 160)
    least = max(12, int(0.04 * max(gray.shape)))
    # Without a fixed seed the transform would give other segments for the same image.
    cv2.setRNGSeed(7)
    lines = cv2.HoughLinesP(edges, 1, np.pi / 180, 30, minLineLength=least, maxLineGap=3)
    found = []
    for line in [] if lines is None else lines.reshape(-1, 4):
        x1, y1, x2, y2 = (int(v) for v in line)
        color = lab[(y1 + y2) // 2, (x1 + x2) // 2]
        length = float(np.hypot(x2 - x1, y2 - y1))
        found.append({"line": [x1, y1, x2, y2], "length": round(length, 1), "color": to_hex(color)})
    return sorted(found, key=lambda segment: -segment["length"])
