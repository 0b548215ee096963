"""Numeric axes: which numbers stand along an edge of the plot, and the scale that they agree on."""

import re
from dataclasses import dataclass

import numpy as np

from .plot import Plot
from .scales import Scale, Tick, fit_scale
from .texts import Text, tight_box

_TIMES = re.compile(r"^(\d(?:\.\d+)?)\s*[×xX*·]\s*10\s*(.*)$")


@dataclass
class Axis:
    """A numeric axis: its scale and the texts that are its tick labels."""

    scale: Scale
    labels: list[Text]
    side: str


def find_axes(plot: Plot, texts: list[Text]) -> tuple[Axis | None, Axis | None]:
    """The vertical and the horizontal axis, each None if no numbers agree on a scale."""
    gap = plot.gap()
    numbers = [text for text in texts if _value(text, gap) is not None and text.angle == 0]
    return _best(plot, gap, _columns(plot, numbers), 1), _best(plot, gap, _rows(plot, numbers), 0)


def _value(text: Text, gap: np.ndarray) -> tuple[float, bool] | None:
    """The value of a tick label, and whether it is a power of ten with a raised exponent."""
    plain = text.text.replace("−", "-").replace(" ", "")
    times = _TIMES.match(plain)
    if times is not None:
        exponent = _integer(times[2])
        return None if exponent is None else (float(times[1]) * 10.0**exponent, True)
    if re.fullmatch(r"10-?\d{1,2}", plain) and plain != "10":
        if "-" in plain:
            return 10.0 ** int(plain[2:]), True
        raised, is_negative = _raised_tail(gap, text)
        if raised:
            return 10.0 ** (-int(plain[2:]) if is_negative else int(plain[2:])), True
    return None if text.number is None else (text.number.value, False)


def _integer(text: str) -> int | None:
    return int(text) if re.fullmatch(r"-?\d{1,2}", text) else None


def _raised_tail(gap: np.ndarray, text: Text) -> tuple[bool, bool]:
    """Whether the last glyph is a raised exponent, and whether a minus sign stands before it."""
    left, top, right, bottom = tight_box(gap, text.box).astype(int)
    ink = gap[top:bottom, left:right]
    if ink.size == 0 or bottom - top < 5:
        return False, False
    strong = ink > 0.5 * float(ink.max())
    filled = strong.any(0)
    edges = np.diff(np.concatenate([[0], filled.astype(np.int8), [0]]))
    glyphs = list(zip(np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)))
    if len(glyphs) < 3:
        return False, False
    line = bottom - top
    lows = [int(np.flatnonzero(strong[:, a:b].any(1))[-1]) for a, b in glyphs]
    highs = [int(np.flatnonzero(strong[:, a:b].any(1))[0]) for a, b in glyphs]
    base = max(lows[:2])
    raised = lows[-1] < base - 0.2 * line and highs[-1] <= min(highs[:2])
    flat = [lows[k] - highs[k] < 0.22 * line for k in range(2, len(glyphs) - 1)]
    return raised, raised and any(flat)


def _columns(plot: Plot, numbers: list[Text]) -> list[tuple[str, list[Text]]]:
    """Groups of numbers that stand under each other: aligned right, left or by their centers."""
    groups = []
    for key in (lambda t: t.box[2], lambda t: t.box[0], lambda t: t.x):
        for group in _clusters(numbers, key, 5.0):
            groups.append((_side(plot, group, 0), group))
    return groups


def _rows(plot: Plot, numbers: list[Text]) -> list[tuple[str, list[Text]]]:
    return [(_side(plot, group, 1), group) for group in _clusters(numbers, lambda t: t.y, 5.0)]


def _clusters(texts: list[Text], key, reach: float) -> list[list[Text]]:
    groups = []
    for text in texts:
        group = [other for other in texts if abs(key(other) - key(text)) <= reach]
        if len(group) >= 2 and group not in groups:
            groups.append(group)
    return groups


def _side(plot: Plot, group: list[Text], axis: int) -> str:
    """The edge of the plot at which a group stands; `inside` if at none."""
    if plot.box is None:
        return "left" if axis == 0 else "bottom"
    if axis == 0:
        if np.median([t.box[2] for t in group]) < plot.box[0] + 4:
            return "left"
        return "right" if np.median([t.box[0] for t in group]) > plot.box[2] - 4 else "inside"
    if np.median([t.box[1] for t in group]) > plot.box[3] - 4:
        return "bottom"
    return "top" if np.median([t.box[3] for t in group]) < plot.box[1] + 4 else "inside"


def _best(plot: Plot, gap, groups: list[tuple[str, list[Text]]], along: int) -> Axis | None:
    """The group whose numbers agree best; `along` is 1 for a vertical axis, else 0."""
    best: tuple[float, Axis] | None = None
    for side, group in groups:
        if side == "inside":
            continue
        ticks = []
        for index, text in enumerate(group):
            box = tight_box(gap, text.box)
            center = float(box[along] + box[along + 2]) / 2
            value, is_power = _value(text, gap)
            ticks.append(Tick(center, value, text.text, index, is_power))
        ticks, snapped = _snap(ticks, _places(plot, side))
        size = float(np.median([text.height for text in group]))
        scale = fit_scale(ticks, max(2.0, 0.3 * size))
        if scale is None:
            continue
        scale.is_snapped = snapped
        _readmit(scale, group, gap, along)
        used = [group[tick.item] for tick in scale.ticks]
        units = [t.number.unit for t in used if t.number is not None and t.number.unit]
        scale.unit = units[0] if len(units) > len(used) / 2 else ""
        score = len(scale.ticks) - 0.3 * scale.residual - (0.5 if side in ("right", "top") else 0)
        if best is None or score > best[0]:
            best = (score, Axis(scale, used, side))
    if best is None:
        return None
    axis = best[1]
    # Two numbers agree on some map whatever they are: others beside them must not contradict.
    if len(axis.scale.ticks) == 2 and any(
        len(group) > 2 and all(label in group for label in axis.labels) for _, group in groups
    ):
        return None
    return axis


def _readmit(scale: Scale, group: list[Text], gap: np.ndarray, along: int) -> None:
    """Adds labels that stand beside their place, as the first and last of an axis may, as ticks."""
    taken = {tick.item for tick in scale.ticks}
    for index, text in enumerate(group):
        value, is_power = _value(text, gap)
        place = scale.pixel(value) if index not in taken else None
        if place is None:
            continue
        size = text.width if along == 0 else text.height
        if abs(place - (text.x if along == 0 else text.y)) < 0.6 * size:
            scale.ticks.append(Tick(place, value, text.text, index, is_power))


def _places(plot: Plot, side: str) -> list[float]:
    """Where ticks can be: tick marks, else gridlines."""
    if plot.box is None:
        return []
    marks = {"left": plot.left_marks, "bottom": plot.bottom_marks}.get(side, [])
    rules = plot.rows if side in ("left", "right") else plot.columns
    return [unsnapped(place) for place in [*marks, *(rule.at for rule in rules)]]


def unsnapped(place: float) -> float:
    """Where a thin line was meant to be: libraries draw it at the rounded pixel plus a half."""
    return place - 0.5 if abs(place % 1 - 0.5) < 0.12 else place


def _snap(ticks: list[Tick], places: list[float]) -> tuple[list[Tick], bool]:
    """Moves ticks onto marks, and says so, where most labels stand in the same way beside one.

    A label that stands otherwise, such as the first of an axis that is kept from overlapping, is
    left out if enough others remain.
    """
    if not places or not ticks:
        return ticks, False
    marks = np.array(sorted(places))
    nearest = [float(marks[np.abs(marks - t.position).argmin()]) for t in ticks]
    offsets = np.array([n - t.position for n, t in zip(nearest, ticks)])
    near = np.abs(offsets) < 4
    if near.mean() < 0.6:
        return ticks, False
    usual = float(np.median(offsets[near]))
    placed = []
    for tick, place, offset in zip(ticks, nearest, offsets):
        if abs(offset - usual) < 1.6:
            tick.position = place
            placed.append(tick)
        else:
            tick.position += usual
    return (placed if len(placed) >= 3 else ticks), True
