"""Scatter plots: the centers of many small blobs of one size."""

from dataclasses import dataclass

import cv2
import numpy as np


@dataclass
class Cloud:
    """Centers [M, 2] of one ink's marks in pixels, how sure each is, and their usual radius."""

    ink: int
    centers: np.ndarray
    certainty: np.ndarray
    radius: float


def find_cloud(labels: np.ndarray, ink: int, region, hidden: np.ndarray) -> Cloud | None:
    """The marks of an ink if most of its pixels are in blobs of one size; None otherwise.

    labels: [H, W] int16; hidden: [H, W] bool, where the legend and texts are
    """
    left, top, right, bottom = (int(v) for v in region)
    mask = (labels[top:bottom, left:right] == ink) & ~hidden[top:bottom, left:right]
    filled = cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8))
    count, parts, stats, middles = cv2.connectedComponentsWithStats(filled, connectivity=8)
    areas = stats[1:count, cv2.CC_STAT_AREA]
    large = areas[areas >= 9]
    if len(large) < 3:
        return None
    usual = float(np.median(large))
    # Overlapping marks make larger blobs; the most frequent size is one mark's.
    singles = large[(large > 0.6 * usual) & (large < 1.5 * usual)]
    usual = float(np.median(singles))
    radius = float(np.sqrt(usual / np.pi))
    if not 1.5 <= radius <= 14:
        return None
    side = np.maximum(stats[1:count, cv2.CC_STAT_WIDTH], stats[1:count, cv2.CC_STAT_HEIGHT])
    if np.median(side[areas >= 9]) > 3.2 * radius:
        return None
    centers, sure = [], []
    for part in range(1, count):
        area = stats[part, cv2.CC_STAT_AREA]
        if area < 0.25 * usual:
            continue
        w, h = stats[part, cv2.CC_STAT_WIDTH], stats[part, cv2.CC_STAT_HEIGHT]
        if area < 1.45 * usual and max(w, h) < 2.9 * radius:
            whole = area > 0.75 * usual
            box = stats[part]
            center = middles[part] if whole else [box[0] + (w - 1) / 2, box[1] + (h - 1) / 2]
            centers.append(center)
            sure.append(0.95 if whole else 0.5)
            continue
        if max(w, h) > 14 * radius and area / (w * h) < 0.1:
            continue
        apart = _split(
            (parts == part)[
                stats[part, 1] : stats[part, 1] + h, stats[part, 0] : stats[part, 0] + w
            ],
            radius,
        )
        centers += [[x + stats[part, 0], y + stats[part, 1]] for x, y in apart]
        sure += [0.7] * len(apart)
    if len(centers) < 3:
        return None
    return Cloud(ink, np.array(centers, float) + [left + 0.5, top + 0.5], np.array(sure), radius)


def _split(mask: np.ndarray, radius: float) -> list[tuple[float, float]]:
    """Centers of overlapping discs: where one fits best, one after another."""
    pad = int(radius) + 2
    area = cv2.copyMakeBorder(
        mask.astype(np.float32), pad, pad, pad, pad, cv2.BORDER_CONSTANT, value=0
    )
    reach = int(np.ceil(radius))
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    disc = (np.hypot(x, y) <= radius + 0.2).astype(np.float32)
    rest = area.copy()
    found: list[tuple[float, float]] = []
    for _ in range(60):
        inside = cv2.filter2D(area, -1, disc) / disc.sum()
        fresh = cv2.filter2D(rest, -1, disc) / disc.sum()
        score = np.where(inside > 0.88, fresh, 0)
        row, column = np.unravel_index(int(score.argmax()), score.shape)
        if score[row, column] < 0.3:
            break
        found.append((float(column - pad), float(row - pad)))
        rest[row - reach : row + reach + 1, column - reach : column + reach + 1] *= 1 - disc
    return found
