"""Straight rules of a chart: axis lines, frames, gridlines and tick marks."""

from dataclasses import dataclass

import cv2
import numpy as np

from .colors import chroma, distance


@dataclass(eq=False)
class Rule:
    """A straight line along an axis: its center across, and its extent along, in pixels."""

    at: float
    start: float
    end: float
    thickness: int
    color: np.ndarray
    coverage: float

    @property
    def length(self) -> float:
        return self.end - self.start


def horizontal_rules(lab: np.ndarray, blocked: np.ndarray, least: float = 0.25) -> list[Rule]:
    """Horizontal rules whose pixels cover at least `least` of the image's width, top to bottom.

    A pixel belongs to a rule where its color differs from both 4 pixels above and 4 below, and its
    neighbors along the row look the same. Rules go on behind marks, so their parts are joined.

    lab: [H, W, 3]; blocked: [H, W] bool, text that is no rule.
    """
    height, width = lab.shape[:2]
    reach = 4
    padded = cv2.copyMakeBorder(lab, reach, reach, 0, 0, cv2.BORDER_REPLICATE)
    above = np.sqrt(((lab - padded[:height]) ** 2).sum(-1))
    below = np.sqrt(((lab - padded[2 * reach :]) ** 2).sum(-1))
    thin = (above > 2.2) & (below > 2.2) & ~blocked
    # Straight: the same color goes on to both sides.
    left = np.abs(lab - np.roll(lab, 2, 1)).max(-1) < 3
    right = np.abs(lab - np.roll(lab, -2, 1)).max(-1) < 3
    thin &= left | right
    cover = thin.sum(1) / width
    found: list[Rule] = []
    row = 0
    while row < height:
        if cover[row] < least:
            row += 1
            continue
        last = row
        while last + 1 < height and cover[last + 1] >= 0.6 * least:
            last += 1
        rows = np.arange(row, last + 1)
        if len(rows) <= 5:
            rule = _rule_of(lab, thin, rows, cover)
            if rule is not None:
                found.append(rule)
        row = last + 1
    return found


def _rule_of(lab, thin, rows, cover) -> Rule | None:
    strongest = int(rows[cover[rows].argmax()])
    columns = np.flatnonzero(thin[strongest])
    pixels = lab[strongest, columns]
    color = np.median(pixels, 0)
    alike = distance(pixels, color) < 10
    if alike.mean() < 0.55:
        return None
    columns = columns[alike]
    if _is_edge(lab, rows, columns, color):
        return None
    start, end = _extent(columns)
    # Across: rows weighted by how much of the rule's color they hold.
    weights = np.array([float(thin[r, columns].mean()) for r in rows])
    around = np.array([lab[r, columns].mean(0) for r in rows])
    weights *= np.clip(1 - np.sqrt(((around - color) ** 2).sum(1)) / 60, 0.05, 1)
    weights[weights < 0.5 * weights.max()] = 0
    at = float((rows * weights).sum() / weights.sum()) + 0.5
    return Rule(at, float(start), float(end) + 1, len(rows), color, float(cover[strongest]))


def _is_edge(lab: np.ndarray, rows: np.ndarray, columns: np.ndarray, color: np.ndarray) -> bool:
    """Whether a rule is only the blurred edge between what is above and below it."""
    above = lab[max(0, rows[0] - 2), columns]
    below = lab[min(lab.shape[0] - 1, rows[-1] + 2), columns]
    way = below - above
    length = (way**2).sum(1)
    apart = length > 150
    share = ((color - above) * way).sum(1) / np.maximum(length, 1)
    rest = np.sqrt(((color - above - share[:, None] * way) ** 2).sum(1))
    blend = apart & (share > 0.04) & (share < 0.96) & (rest < 8)
    return bool(blend.mean() > 0.5)


def _extent(columns: np.ndarray) -> tuple[int, int]:
    """The first and last column, leaving out strays: short pieces far from the rest."""
    pieces = np.split(columns, np.flatnonzero(np.diff(columns) > 3) + 1)
    long = [piece for piece in pieces if len(piece) >= 4] or pieces
    while len(long) > 1 and len(long[0]) < 10 and long[1][0] - long[0][-1] > 12:
        long = long[1:]
    while len(long) > 1 and len(long[-1]) < 10 and long[-1][0] - long[-2][-1] > 12:
        long = long[:-1]
    return int(long[0][0]), int(long[-1][-1])


def vertical_rules(lab: np.ndarray, blocked: np.ndarray, least: float = 0.25) -> list[Rule]:
    """Vertical rules, left to right; `start` and `end` are rows."""
    turned = np.ascontiguousarray(lab.transpose(1, 0, 2))
    return horizontal_rules(turned, np.ascontiguousarray(blocked.T), least)


def neutral(rules: list[Rule]) -> list[Rule]:
    """Rules that are no data: gray ones, and colored ones that come at least three times."""
    kept = []
    for rule in rules:
        same = sum(float(np.abs(rule.color - other.color).max()) < 8 for other in rules)
        if chroma(rule.color) < 14 or same >= 3:
            kept.append(rule)
    return kept


def tick_marks(
    gap: np.ndarray, edge: int, start: int, end: int, outward: int, space: int
) -> list[float]:
    """Centers of the short marks that leave a plot's horizontal edge.

    A mark is three pixels of ink, at most 4 wide, that begin at the edge or up to `space` pixels
    from it.
    gap: [H, W] Lab distance to the page; edge: the row of the axis; outward: +1 down, −1 up
    """
    height, width = gap.shape
    rows = [edge + outward * step for step in range(1, 6)]
    rows = [row for row in rows if 0 <= row < height]
    if len(rows) < 3:
        return []
    start, end = max(0, start - 4), min(width, end + 4)
    inked = gap[rows, start:end] > 10
    ink = np.any([inked[k : k + 3].all(0) for k in range(min(space + 1, len(rows) - 2))], 0)
    marks: list[float] = []
    column = 0
    while column < len(ink):
        if not ink[column]:
            column += 1
            continue
        last = column
        while last + 1 < len(ink) and ink[last + 1]:
            last += 1
        if last - column < 4:
            strip = gap[rows, start + column : start + last + 1].mean(0)
            weight = strip / strip.sum()
            marks.append(float((np.arange(column, last + 1) * weight).sum()) + start + 0.5)
        column = last + 1
    # Strokes of labels that stand close to a panel are not as regular as marks.
    return marks if space == 0 or _is_regular(marks) else []


def _is_regular(places: list[float]) -> bool:
    """Whether places are multiples of one step apart."""
    steps = np.diff(places)
    if len(steps) == 0:
        return True
    least = float(steps.min())
    if least < 8:
        return False
    off = steps / least - np.round(steps / least)
    return float(np.abs(off * least / np.round(steps / least)).max()) < 2.0
