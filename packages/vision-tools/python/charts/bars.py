"""Bars: rectangles of one ink on a common base, single, grouped or stacked.

Code here knows upright bars only; horizontal ones are handed over with their axes exchanged.
"""

from dataclasses import dataclass

import cv2
import numpy as np

from .rules import Rule


@dataclass
class Bar:
    """A rectangle in pixels with edges to a fraction of a pixel, and the index of its ink."""

    left: float
    top: float
    right: float
    bottom: float
    ink: int
    fill: float

    @property
    def x(self) -> float:
        return (self.left + self.right) / 2

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.bottom - self.top

    @property
    def area(self) -> float:
        return self.width * self.height


def find_bars(
    labels: np.ndarray, inks: list[int], region, rows: list[Rule], columns: list[Rule]
) -> list[Bar]:
    """The rectangles of the inks inside a region.

    labels: [H, W] int16; gaps that gridlines cut into a bar are closed first.
    """
    left, top, right, bottom = (int(v) for v in region)
    found: list[Bar] = []
    for ink in inks:
        mask = labels[top:bottom, left:right] == ink
        _bridge(mask, [r.at - top for r in rows], rows)
        turned = mask.T
        _bridge(turned, [c.at - left for c in columns], columns)
        found += [
            Bar(b.left + left, b.top + top, b.right + left, b.bottom + top, ink, b.fill)
            for b in _rectangles(np.ascontiguousarray(mask).astype(np.uint8), ink)
        ]
    return found


def _bridge(mask: np.ndarray, places: list[float], rules: list[Rule]) -> None:
    """Sets pixels of a rule's rows where the mask goes on above and below it."""
    height = mask.shape[0]
    for place, rule in zip(places, rules):
        half = rule.thickness // 2 + 1
        first, last = int(place) - half, int(place) + half
        if first - 1 < 0 or last + 1 >= height:
            continue
        both = mask[first - 1] & mask[last + 1]
        mask[first : last + 1] |= both


def _rectangles(mask: np.ndarray, ink: int) -> list[Bar]:
    contours, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    found: list[Bar] = []
    for contour in contours:
        x, y, w, h = cv2.boundingRect(contour)
        if w < 3 or h < 1 or w * h < 6:
            continue
        solid = np.zeros((h, w), np.uint8)
        cv2.drawContours(solid, [contour - [x, y]], -1, 1, -1)
        fill = float(solid.sum()) / (w * h)
        if fill > 0.9 and _is_flat(solid):
            found.append(Bar(x, y, x + w, y + h, ink, fill))
        else:
            found += [
                Bar(x + b.left, y + b.top, x + b.right, y + b.bottom, ink, b.fill)
                for b in _steps(solid, ink)
            ]
    return found


def _is_flat(solid: np.ndarray) -> bool:
    """Whether all four edges of a patch are straight."""
    edges = [solid.argmax(0), solid[::-1].argmax(0), solid.argmax(1), solid[:, ::-1].argmax(1)]
    return all(float((np.abs(edge - np.median(edge)) <= 1.5).mean()) > 0.85 for edge in edges)


def _steps(solid: np.ndarray, ink: int) -> list[Bar]:
    """Splits a staircase of touching bars at the columns where its top or bottom jumps."""
    height, width = solid.shape
    tops = solid.argmax(0)
    bottoms = height - solid[::-1].argmax(0)
    jump = (np.abs(np.diff(tops)) > 1) | (np.abs(np.diff(bottoms)) > 1)
    cuts = [0, *(np.flatnonzero(jump) + 1), width]
    found = []
    for start, end in zip(cuts, cuts[1:]):
        if end - start < 3:
            continue
        top, bottom = int(np.median(tops[start:end])), int(np.median(bottoms[start:end]))
        part = solid[top:bottom, start:end]
        fill = float(part.mean()) if part.size else 0.0
        if fill > 0.9 and _is_flat(solid[top:bottom, start:end]):
            found.append(Bar(start, top, end, bottom, ink, fill))
    whole = sum(b.area for b in found)
    return found if len(found) > 1 and whole > 0.9 * float(solid.sum()) else []


def refine(lab: np.ndarray, bar: Bar, color: np.ndarray, rows: list[Rule]) -> None:
    """Moves the top and bottom edge to fractions of a pixel by how much ink the edge rows hold.

    An edge that a rule covers, such as the axis, stays where the ink ends.
    """
    inset = max(1, int(0.2 * bar.width))
    left, right = int(bar.left) + inset, int(bar.right) - inset
    if right <= left or bar.height < 3:
        return
    if not any(abs(rule.at - bar.top) < 2.6 for rule in rows):
        bar.top = _edge(lab, int(bar.top), -1, left, right, color)
    if not any(abs(rule.at - bar.bottom) < 2.6 for rule in rows):
        bar.bottom = _edge(lab, int(bar.bottom) - 1, 1, left, right, color) + 1


def _edge(
    lab: np.ndarray, row: int, outward: int, left: int, right: int, color: np.ndarray
) -> float:
    """The outer edge of the last full row; the row itself if it is not plain around."""
    beyond, inner = row + 2 * outward, row - outward
    if not (0 <= beyond < lab.shape[0] and 0 <= inner < lab.shape[0]):
        return float(row)
    ground = np.median(lab[beyond, left:right], 0)
    span = color - ground
    length = float((span**2).sum())
    if length < 150:
        return float(row)
    amount = 0.0
    for near in (row, row + outward):
        pixel = np.median(lab[near, left:right], 0)
        share = float(((pixel - ground) * span).sum()) / length
        if not -0.1 < share < 1.15:
            return float(row)
        amount += min(1.0, max(0.0, share))
    # `amount` of the two rows is ink.
    return row + outward * (amount - 1)


@dataclass
class Stand:
    """How bars stand: their base in pixels, and which of them are stacked on others."""

    base: float
    bars: list[Bar]
    is_stacked: bool
    # Share of the bars' area that stands as bars do.
    share: float


def stand(bars: list[Bar], zero: float | None) -> Stand | None:
    """Whether rectangles stand on a common base, upright.

    zero: where the value axis is zero, in pixels, if that is known
    """
    if not bars:
        return None
    edges = np.array([[b.bottom, b.top] for b in bars])
    base = _base(bars, edges, zero)
    if base is None:
        return None
    on_base = [min(abs(b.bottom - base), abs(b.top - base)) < 2.6 for b in bars]
    stacked = 0
    standing = list(on_base)
    changed = True
    while changed:
        changed = False
        for i, bar in enumerate(bars):
            if standing[i]:
                continue
            for j, under in enumerate(bars):
                touches = min(abs(bar.bottom - under.top), abs(bar.top - under.bottom)) < 3.5
                if standing[j] and touches and _same_columns(bar, under):
                    standing[i] = changed = True
                    stacked += 1
                    break
    kept = [b for b, good in zip(bars, standing) if good]
    if not kept:
        return None
    share = sum(b.area for b in kept) / max(1.0, sum(b.area for b in bars))
    return Stand(base, kept, stacked > 0, share)


def _base(bars: list[Bar], edges: np.ndarray, zero: float | None) -> float | None:
    weights = np.array([b.width for b in bars])

    def support(place: float) -> float:
        near = (np.abs(edges - place) < 2.6).any(1)
        return float(weights[near].sum())

    candidates = [(support(float(e)), float(e)) for e in np.unique(np.round(edges))]
    best, place = max(candidates)
    # Stacked bars may agree more on another edge, but bars start at zero.
    if zero is not None and support(zero) >= 0.25 * best:
        return zero
    near = edges[np.abs(edges - place) < 2.6]
    return float(np.median(near))


def _same_columns(a: Bar, b: Bar) -> bool:
    shared = min(a.right, b.right) - max(a.left, b.left)
    return shared > 0.8 * max(a.width, b.width)


def equal_widths(bars: list[Bar]) -> float:
    """How equal bars are in width, from 0 to 1: upright bars are, however tall they are."""
    widths = np.array([b.width for b in bars])
    return float((np.abs(widths - np.median(widths)) <= 0.06 * np.median(widths) + 1.5).mean())
