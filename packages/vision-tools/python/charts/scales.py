"""Scales of axes: the linear or logarithmic map that most tick labels agree on."""

import math
from dataclasses import dataclass

import numpy as np


@dataclass
class Tick:
    """A number beside an axis: its center in pixels along the axis."""

    position: float
    value: float
    text: str = ""
    item: int = -1
    # Written as a power of ten, as only logarithmic axes have them.
    is_power: bool = False


@dataclass
class Scale:
    """value = slope · pixel + offset, of the value or, on a logarithmic axis, of its log10."""

    slope: float
    offset: float
    is_log: bool
    ticks: list[Tick]
    # Root mean square distance of the ticks from the map, in pixels.
    residual: float
    unit: str = ""
    confidence: float = 0.0
    # Whether the ticks were placed by marks or gridlines, which is good to half a pixel.
    is_snapped: bool = False

    def value(self, pixel: float) -> float:
        linear = self.slope * pixel + self.offset
        return 10.0 ** min(300.0, linear) if self.is_log else linear

    def pixel(self, value: float) -> float | None:
        """Where a value lies; None where it cannot: zero on a logarithmic axis."""
        if self.is_log and value <= 0:
            return None
        linear = math.log10(value) if self.is_log else value
        return (linear - self.offset) / self.slope

    @property
    def step(self) -> float:
        """The value of one pixel (in decades on a logarithmic axis)."""
        return abs(self.slope)


def fit_scale(ticks: list[Tick], tolerance: float) -> Scale | None:
    """The map that most ticks agree on within `tolerance` pixels, or None if fewer than three do.

    Every pair of ticks proposes a map; a minus sign that was not read is put back where that makes
    a tick fit. Of a linear and a logarithmic map the linear one is taken unless the other explains
    more.
    """
    # Any two numbers agree on a map: two are enough only where there are no others to disagree.
    if len(ticks) < 2:
        return None
    powers = sum(tick.is_power for tick in ticks)
    linear = None if powers >= 2 else _ransac(ticks, False, tolerance)
    positive = [tick for tick in ticks if tick.value > 0]
    log = _ransac(positive, True, tolerance) if len(positive) >= 3 or powers >= 2 else None
    best = linear
    if log is not None and (powers >= 2 or _decades(log) >= 0.6):
        if linear is None or len(log.ticks) > len(linear.ticks):
            best = log
        elif len(log.ticks) == len(linear.ticks) and log.residual < 0.3 * linear.residual:
            best = log
    if best is None:
        return None
    best.confidence = _confidence(best, len(ticks), tolerance)
    return best


def _decades(scale: Scale) -> float:
    values = [tick.value for tick in scale.ticks]
    return math.log10(max(values) / min(values))


def _confidence(scale: Scale, given: int, tolerance: float) -> float:
    agreeing = len(scale.ticks)
    many = 1 - 0.5 ** (agreeing - 1)
    if agreeing == 2:
        return 0.4
    return round(many * (0.5 + 0.5 * agreeing / given) * (1 - 0.4 * scale.residual / tolerance), 3)


def _ransac(ticks: list[Tick], is_log: bool, tolerance: float) -> Scale | None:
    positions = np.array([tick.position for tick in ticks])
    values = np.array([math.log10(t.value) if is_log else t.value for t in ticks])
    signs = [1.0] if is_log else [1.0, -1.0]
    best: tuple[int, float, np.ndarray, np.ndarray] | None = None
    for i in range(len(ticks)):
        for j in range(i + 1, len(ticks)):
            span = positions[j] - positions[i]
            if abs(span) < 6:
                continue
            for si in signs:
                for sj in signs:
                    slope = (sj * values[j] - si * values[i]) / span
                    if slope == 0 or (si < 0 and sj < 0):
                        continue
                    wanted = values[i] * si + slope * (positions - positions[i])
                    plain = np.abs(wanted - values) / abs(slope)
                    turned = np.abs(wanted + values) / abs(slope) if len(signs) > 1 else plain
                    # A missing minus sign is rarer than a sign that is right.
                    flips = (turned < tolerance) & (plain >= tolerance) & (values > 0)
                    fits = (plain < tolerance) | flips
                    error = float(np.minimum(plain, np.where(flips, turned, plain))[fits].mean())
                    score = (int(fits.sum()), -error - 0.6 * float(flips.sum()))
                    if best is None or score > best[:2]:
                        best = (*score, fits, np.where(flips, -1.0, 1.0))
    if best is None or best[0] < (3 if len(ticks) > 2 else 2):
        return None
    fits, turn = best[2], best[3]
    chosen = _one_per_place(positions[fits], (values * turn)[fits])
    places, wanted = chosen
    if len(places) < 2:
        return None
    slope, offset = np.polyfit(places, wanted, 1)
    if slope == 0:
        return None
    residual = float(np.sqrt((((wanted - offset) / slope - places) ** 2).mean()))
    kept = [
        Tick(t.position, t.value * float(turn[k]), t.text, t.item)
        for k, t in enumerate(ticks)
        if fits[k]
    ]
    return Scale(float(slope), float(offset), is_log, kept, residual)


def _one_per_place(places: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(places)
    places, values = places[order], values[order]
    keep = np.concatenate([[True], np.diff(places) > 1])
    return places[keep], values[keep]
