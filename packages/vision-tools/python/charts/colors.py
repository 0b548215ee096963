"""Colors of a chart in CIE Lab: distances, backgrounds, the inks of marks, and names."""

from dataclasses import dataclass

import cv2
import numpy as np

# Nearer colors belong to one mark: anti-aliasing and JPEG stay below it, palettes above.
SAME = 12.0


@dataclass
class Ink:
    """One color that marks are drawn in. `lab` is [3] float32, `count` is in pixels."""

    lab: np.ndarray
    count: int


def to_lab(rgb: np.ndarray) -> np.ndarray:
    """CIE Lab of an [H, W, 3] uint8 RGB image, as float32: L from 0 to 100, a and b around 0."""
    return cv2.cvtColor(rgb.astype(np.float32) / 255, cv2.COLOR_RGB2LAB)


def to_rgb(lab: np.ndarray) -> tuple[int, int, int]:
    """The sRGB color of one Lab color, each channel from 0 to 255."""
    rgb = cv2.cvtColor(np.float32(lab).reshape(1, 1, 3), cv2.COLOR_LAB2RGB)[0, 0]
    return tuple(int(v) for v in np.clip(np.round(rgb * 255), 0, 255))


def to_hex(lab: np.ndarray) -> str:
    """`#rrggbb` of one Lab color."""
    return "#%02x%02x%02x" % to_rgb(lab)


def distance(lab: np.ndarray, color: np.ndarray) -> np.ndarray:
    """Euclidean Lab distance of every pixel of [..., 3] to one color."""
    return np.sqrt(((lab - np.float32(color)) ** 2).sum(-1))


def chroma(lab: np.ndarray) -> float:
    """How far a color is from gray."""
    return float(np.hypot(lab[1], lab[2]))


def modal_color(lab: np.ndarray) -> np.ndarray:
    """The most frequent color of [..., 3], as the mean of its histogram cell's members."""
    flat = lab.reshape(-1, 3)
    cells = np.floor(flat / 4).astype(np.int64) + 64
    keys = (cells[:, 0] << 16) | (cells[:, 1] << 8) | cells[:, 2]
    values, counts = np.unique(keys, return_counts=True)
    return flat[keys == values[counts.argmax()]].mean(0)


def page_color(lab: np.ndarray) -> np.ndarray:
    """The color of the page: the most frequent one along the border of the image."""
    ring = [lab[:3], lab[-3:], lab[:, :3], lab[:, -3:]]
    return modal_color(np.concatenate([part.reshape(-1, 3) for part in ring]))


def histogram(lab: np.ndarray, mask: np.ndarray, least: int) -> list[Ink]:
    """Clusters the colors under a [H, W] mask, most frequent first.

    Cells of four units are merged greedily into the nearest larger cluster within `SAME`;
    clusters of fewer than `least` pixels are left out.
    """
    flat = lab[mask]
    if len(flat) == 0:
        return []
    cells = np.floor(flat / 4).astype(np.int64) + 64
    keys = (cells[:, 0] << 16) | (cells[:, 1] << 8) | cells[:, 2]
    values, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
    sums = np.stack([np.bincount(inverse, flat[:, i], len(values)) for i in range(3)], 1)
    centers: list[np.ndarray] = []
    totals: list[np.ndarray] = []
    numbers: list[int] = []
    for index in np.argsort(-counts)[:4000]:
        color = sums[index] / counts[index]
        if centers:
            gaps = np.sqrt(((np.array(centers) - color) ** 2).sum(1))
            nearest = int(gaps.argmin())
            if gaps[nearest] < SAME:
                totals[nearest] = totals[nearest] + sums[index]
                numbers[nearest] += int(counts[index])
                continue
        if len(centers) >= 60:
            continue
        centers.append(color)
        totals.append(sums[index])
        numbers.append(int(counts[index]))
    found = [Ink(np.float32(c), n) for c, n in zip(centers, numbers) if n >= least]
    return sorted(found, key=lambda ink: -ink.count)


def labels_of(lab: np.ndarray, inks: list[Ink], reach: float = SAME) -> np.ndarray:
    """[H, W] int16: the index of the nearest ink, or −1 where none is within `reach`."""
    best = np.full(lab.shape[:2], reach, np.float32)
    found = np.full(lab.shape[:2], -1, np.int16)
    for index, ink in enumerate(inks):
        gap = distance(lab, ink.lab)
        nearer = gap < best
        found[nearer] = index
        best[nearer] = gap[nearer]
    return found


def without_blends(
    inks: list[Ink], labels: np.ndarray, backgrounds: list[np.ndarray]
) -> tuple[list[Ink], np.ndarray]:
    """Drops inks that are only the anti-aliased edge between two others or an ink and a background.

    Such an ink lies between its neighbors in color, is thin, and touches them almost everywhere.
    """
    kernel = np.ones((3, 3), np.uint8)
    masks = [(labels == index).astype(np.uint8) for index in range(len(inks))]
    wide = [cv2.dilate(mask, np.ones((5, 5), np.uint8)) > 0 for mask in masks]
    kept: list[int] = []
    for index, ink in enumerate(inks):
        core = int(cv2.erode(masks[index], kernel).sum())
        thin = core < 0.08 * max(1, int(masks[index].sum()))
        if not (thin and _is_edge(index, ink, inks, masks, wide, backgrounds)):
            kept.append(index)
    renamed = np.full(len(inks) + 1, -1, np.int16)
    for new, old in enumerate(kept):
        renamed[old] = new
    return [inks[old] for old in kept], renamed[labels]


def _is_edge(index, ink, inks, masks, wide, backgrounds) -> bool:
    here = masks[index] > 0
    total = max(1, int(here.sum()))
    for other, candidate in enumerate(inks):
        if other == index or candidate.count <= ink.count:
            continue
        if (here & wide[other]).sum() / total < 0.75:
            continue
        ends = [*backgrounds, *(i.lab for k, i in enumerate(inks) if k not in (index, other))]
        if any(_between(ink.lab, candidate.lab, end) for end in ends):
            return True
    return False


def _between(color: np.ndarray, first: np.ndarray, second: np.ndarray) -> bool:
    way = second - first
    length = float((way**2).sum())
    if length < 1:
        return False
    share = float(((color - first) * way).sum()) / length
    if not 0.08 < share < 0.95:
        return False
    return float(np.sqrt(((color - first - share * way) ** 2).sum())) < 9


_NAMES = {
    "black": (0, 0, 0),
    "white": (255, 255, 255),
    "gray": (128, 128, 128),
    "dark gray": (80, 80, 80),
    "light gray": (200, 200, 200),
    "red": (220, 40, 40),
    "dark red": (140, 20, 30),
    "orange": (250, 140, 30),
    "brown": (140, 90, 60),
    "yellow": (245, 220, 50),
    "olive": (150, 150, 50),
    "green": (50, 160, 60),
    "light green": (150, 215, 140),
    "dark green": (25, 95, 45),
    "teal": (40, 150, 150),
    "cyan": (60, 200, 220),
    "light blue": (150, 195, 235),
    "blue": (50, 115, 190),
    "dark blue": (30, 45, 120),
    "purple": (130, 90, 180),
    "magenta": (190, 50, 150),
    "pink": (240, 150, 190),
}
_NAMED = {name: to_lab(np.uint8([[rgb]]))[0, 0] for name, rgb in _NAMES.items()}


def color_name(lab: np.ndarray) -> str:
    """The nearest of 22 plain color names."""
    return min(_NAMED, key=lambda name: float(((_NAMED[name] - lab) ** 2).sum()))
