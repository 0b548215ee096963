"""The colors that the marks of a chart are drawn in, and the pixels of each."""

from dataclasses import dataclass

import numpy as np

from .colors import Ink, chroma, distance, histogram, labels_of, without_blends
from .plot import Plot
from .texts import Text


@dataclass
class Inks:
    """`labels` is [H, W] int16: each pixel's ink, or −1. `region` is where marks can be."""

    colors: list[Ink]
    labels: np.ndarray
    region: np.ndarray


def find_inks(plot: Plot, texts: list[Text]) -> Inks:
    """The inks of a plot, most frequent first, without texts, rules and backgrounds."""
    height, width = plot.lab.shape[:2]
    if plot.box is None:
        region = np.array([0, 0, width, height])
    else:
        left, top, right, bottom = plot.box
        region = np.array([left - 1, top - 3, right + 2, bottom + 2]).round().astype(int)
        region = np.clip(region, 0, [width, height, width, height])
    inside = np.zeros((height, width), bool)
    inside[region[1] : region[3], region[0] : region[2]] = True
    gap = plot.gap()
    free = inside & (gap > 7)
    for text in texts:
        left, top, right, bottom = text.box.astype(int)
        free[max(0, top) : bottom + 1, max(0, left) : right + 1] = False
    for rule in plot.rows:
        half = rule.thickness / 2 + 0.6
        free[max(0, int(rule.at - half)) : int(rule.at + half) + 1] = False
    for rule in plot.columns:
        half = rule.thickness / 2 + 0.6
        free[:, max(0, int(rule.at - half)) : int(rule.at + half) + 1] = False
    area = (region[2] - region[0]) * (region[3] - region[1])
    # A solid pixel has a like neighbor on two sides; anti-aliased ones mostly have not.
    found = histogram(plot.lab, free & _solid(plot.lab), max(14, int(0.00006 * area)))
    found = [ink for ink in found if not _is_rule(ink, plot)]
    backgrounds = plot.backgrounds
    labels = labels_of(plot.lab, found)
    nearer = np.minimum.reduce([distance(plot.lab, color) for color in backgrounds])
    for index, ink in enumerate(found):
        pale = (labels == index) & (
            nearer < 0.5 * distance(ink.lab, _nearest(ink.lab, backgrounds))
        )
        labels[pale] = -1
    found, labels = without_blends(found[:24], np.where(labels < 24, labels, -1), backgrounds)
    return Inks(found, labels, region)


def _nearest(color: np.ndarray, others: list[np.ndarray]) -> np.ndarray:
    return min(others, key=lambda other: float(((other - color) ** 2).sum()))


def _solid(lab: np.ndarray) -> np.ndarray:
    across = np.abs(np.diff(lab, axis=1)).max(-1) < 4
    along = np.abs(np.diff(lab, axis=0)).max(-1) < 4
    solid = np.zeros(lab.shape[:2], np.int8)
    solid[:, 1:] += across
    solid[:, :-1] += across
    solid[1:] += along
    solid[:-1] += along
    return solid >= 2


def _is_rule(ink: Ink, plot: Plot) -> bool:
    """Whether an ink is only what crossings and ends of gray rules leave over."""
    if chroma(ink.lab) > 12:
        return False
    area = max(1, plot.lab.shape[0] * plot.lab.shape[1])
    same = any(distance(rule.color, ink.lab) < 14 for rule in plot.rows + plot.columns)
    return same and ink.count < 0.004 * area
