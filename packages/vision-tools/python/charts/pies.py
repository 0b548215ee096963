"""Pies and donuts: sectors of a circle by color, their shares, and the texts that name them."""

from dataclasses import dataclass

import cv2
import numpy as np

from .colors import Ink


@dataclass
class Sector:
    """Angles in degrees clockwise from twelve o'clock; `share` is of the whole circle."""

    start: float
    end: float
    ink: int

    @property
    def share(self) -> float:
        return (self.end - self.start) / 360

    @property
    def middle(self) -> float:
        return (self.start + self.end) / 2


@dataclass
class Pie:
    x: float
    y: float
    radius: float
    hole: float
    sectors: list[Sector]

    def place(self, angle: float, share_of_radius: float) -> tuple[float, float]:
        """Pixel of an angle in degrees at a share of the radius."""
        turn = np.radians(angle)
        far = self.radius * share_of_radius
        return self.x + far * float(np.sin(turn)), self.y - far * float(np.cos(turn))


def find_pie(labels: np.ndarray, inks: list[Ink], gap: np.ndarray) -> Pie | None:
    """A filled circle of at least two inks; None if the largest patch of ink is no circle.

    labels: [H, W] int16; gap: [H, W] Lab distance to the background
    """
    height, width = labels.shape
    mask = (labels >= 0).astype(np.uint8)
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (5, 5))
    mask = cv2.morphologyEx(mask, cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
    mask = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, kernel)
    count, parts, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
    if count < 2:
        return None
    part = 1 + int(stats[1:, cv2.CC_STAT_AREA].argmax())
    left, top, w, h, _ = stats[part]
    if min(w, h) < 0.2 * min(height, width) or not 0.93 < w / h < 1.07:
        return None
    contours, _ = cv2.findContours(
        (parts == part).astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE
    )
    outline = max(contours, key=len)[:, 0].astype(float)
    x, y, radius = _circle(outline)
    off = np.abs(np.hypot(outline[:, 0] - x, outline[:, 1] - y) - radius)
    if np.mean(off < max(1.5, 0.02 * radius)) < 0.9:
        return None
    hole = _hole(labels, x, y, radius)
    if hole > 0.9:
        return None
    sectors = _sectors(labels, x, y, radius, hole)
    if len(sectors) < 2:
        return None
    return Pie(x + 0.5, y + 0.5, radius + 0.5, hole, sectors)


def _circle(points: np.ndarray) -> tuple[float, float, float]:
    """Least-squares circle through [N, 2] points (Kåsa's linear fit)."""
    system = np.column_stack([2 * points, np.ones(len(points))])
    x, y, rest = np.linalg.lstsq(system, (points**2).sum(1), rcond=None)[0]
    return float(x), float(y), float(np.sqrt(rest + x * x + y * y))


def _hole(labels: np.ndarray, x: float, y: float, radius: float) -> float:
    """Radius of the hole of a donut as a share of the whole; 0 for a pie."""
    turn = np.radians(np.arange(0, 360, 3))
    for share in np.arange(0.9, 0.08, -0.04):
        columns = (x + share * radius * np.sin(turn)).round().astype(int)
        rows = (y - share * radius * np.cos(turn)).round().astype(int)
        inked = labels[rows.clip(0, labels.shape[0] - 1), columns.clip(0, labels.shape[1] - 1)] >= 0
        if inked.mean() < 0.3:
            return float(share)
    return 0.0


def _sectors(labels: np.ndarray, x, y, radius, hole) -> list[Sector]:
    steps = 1440
    turn = np.radians((np.arange(steps) + 0.5) * 360 / steps)
    # Near the rim an angle spans most pixels, and labels inside the pie are mostly further in.
    shares = np.linspace(max(hole + 0.1 * (1 - hole), 0.45), 0.94, 13)
    votes = np.full((len(shares), steps), -1, int)
    for index, share in enumerate(shares):
        columns = (x + share * radius * np.sin(turn)).round().astype(int)
        rows = (y - share * radius * np.cos(turn)).round().astype(int)
        votes[index] = labels[
            rows.clip(0, labels.shape[0] - 1), columns.clip(0, labels.shape[1] - 1)
        ]
    kinds = int(votes.max()) + 1
    if kinds < 1:
        return []
    counts = np.stack([(votes == k).sum(0) for k in range(kinds)])
    winner = np.where(counts.max(0) >= 2, counts.argmax(0), -1)
    winner = _filled(winner)
    if winner is None:
        return []
    return _runs(winner, steps)


def _filled(winner: np.ndarray) -> np.ndarray | None:
    """Gives angles of edges and texts to their neighbors, half to each side."""
    known = np.flatnonzero(winner >= 0)
    if len(known) < 0.6 * len(winner):
        return None
    steps = len(winner)
    around = np.concatenate([known - steps, known, known + steps])
    places = np.arange(steps)
    after = np.searchsorted(around, places)
    low, high = around[after - 1], around[np.minimum(after, len(around) - 1)]
    nearest = np.where(places - low <= high - places, low, high)
    nearest = np.where(winner >= 0, places, nearest % steps)
    return winner[nearest]


def _runs(winner: np.ndarray, steps: int) -> list[Sector]:
    changes = np.flatnonzero(winner != np.roll(winner, 1))
    if len(changes) == 0:
        return []
    found: list[Sector] = []
    unit = 360 / steps
    for index, start in enumerate(changes):
        end = changes[(index + 1) % len(changes)]
        length = (end - start) % steps or steps
        found.append(Sector(start * unit, (start + length) * unit, int(winner[start])))
    # Slivers are edges between two colors.
    kept = [s for s in found if s.end - s.start >= 1.2]
    for index, sector in enumerate(kept):
        before = kept[index - 1]
        space = (sector.start - before.end) % 360
        if 0 < space < 5:
            before.end += space / 2
            sector.start -= space / 2
    merged: list[Sector] = []
    for sector in kept:
        if merged and merged[-1].ink == sector.ink and abs(merged[-1].end - sector.start) < 0.3:
            merged[-1].end = sector.end
        else:
            merged.append(sector)
    return merged
