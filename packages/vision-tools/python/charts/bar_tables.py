"""The table of a bar chart: bars to categories, their ends to values."""

from dataclasses import dataclass, replace

import numpy as np

from .bars import Bar, Stand, equal_widths, find_bars, refine, stand
from .chart import Cell, Chart, Table, Unreadable
from .labels import Labels
from .rules import Rule
from .scales import Scale
from .series import mark_inks, series_of


@dataclass
class View:
    """A bar chart as if its bars were upright: transposed for horizontal bars."""

    labels: np.ndarray
    lab: np.ndarray
    region: np.ndarray
    rows: list[Rule]
    columns: list[Rule]
    scale: Scale | None
    names: Labels
    is_horizontal: bool


def bar_table(chart: Chart, hidden: np.ndarray) -> Table | None:
    """The table of a bar chart; None if most of the ink is not in bars."""
    inks = mark_inks(chart)
    views = [_upright(chart, hidden), _lying(chart, hidden)]
    best: tuple[float, View, Stand] | None = None
    for view in views:
        bars = find_bars(view.labels, inks, view.region, view.rows, view.columns)
        bars = [b for b in bars if b.area >= 12 and b.width >= 3]
        zero = view.scale.pixel(0) if view.scale is not None else None
        standing = stand(bars, zero)
        if standing is None or not _is_bars(view, inks, standing):
            continue
        score = standing.share * equal_widths(standing.bars) * (1.2 if view.scale else 0.8)
        score *= min(1.0, 0.6 + 0.2 * len(standing.bars))
        if best is None or score > best[0]:
            best = (score, view, standing)
    if best is None or best[0] < 0.35:
        return None
    _, view, standing = best
    return _table(chart, view, standing)


def _upright(chart: Chart, hidden: np.ndarray) -> View:
    plot = chart.plot
    labels = np.where(_legend_only(chart, hidden), -1, chart.inks.labels)
    scale = chart.y_axis.scale if chart.y_axis is not None else None
    names = chart.words.bottom
    return View(labels, plot.lab, chart.inks.region, plot.rows, plot.columns, scale, names, False)


def _lying(chart: Chart, hidden: np.ndarray) -> View:
    plot = chart.plot
    labels = np.where(_legend_only(chart, hidden), -1, chart.inks.labels).T
    lab = plot.lab.transpose(1, 0, 2)
    scale = chart.x_axis.scale if chart.x_axis is not None else None
    region = np.array(chart.inks.region)[[1, 0, 3, 2]]
    names = chart.words.left
    return View(
        np.ascontiguousarray(labels), lab, region, plot.columns, plot.rows, scale, names, True
    )


def _legend_only(chart: Chart, hidden: np.ndarray) -> np.ndarray:
    """Texts may stand inside of bars; only the legend hides some."""
    mask = np.zeros(hidden.shape, bool)
    if chart.legend is not None:
        left, top, right, bottom = chart.legend.box.astype(int)
        mask[max(0, top) : bottom, max(0, left) : right] = True
    return mask


def _is_bars(view: View, inks: list[int], standing: Stand) -> bool:
    """Whether the bars hold most ink, and are too wide to be pieces of lines."""
    left, top, right, bottom = (int(v) for v in view.region)
    inked = int(np.isin(view.labels[top:bottom, left:right], inks).sum())
    held = sum(b.area for b in standing.bars)
    wide = np.median([b.width for b in standing.bars]) >= 4
    tall = max(b.height for b in standing.bars) >= 6
    return held > 0.6 * inked and bool(wide) and tall


def _table(chart: Chart, view: View, standing: Stand) -> Table | None:
    scale = view.scale
    for bar in standing.bars:
        refine(view.lab, bar, chart.inks.colors[bar.ink].lab, view.rows)
    if scale is not None:
        scale = _grounded(scale, standing, view.rows)
    slots = _slots(standing.bars, view.names)
    inks = list(
        dict.fromkeys(i for i in mark_inks(chart) if any(b.ink == i for b in standing.bars))
    )
    one_each = not standing.is_stacked and _one_bar_per_slot(standing.bars, slots)
    if scale is None:
        which = "horizontal" if view.is_horizontal else "vertical"
        raise Unreadable(f"There are bars, but no numbers along the {which} axis to scale them by.")
    columns = [inks] if one_each and len(inks) > 1 and chart.legend is None else [[i] for i in inks]
    series = series_of(chart, [column[0] for column in columns])
    if len(columns) == 1 and len(inks) > 1:
        series[0].color = None
    cells: list[list[Cell | None]] = []
    for slot in slots:
        row: list[Cell | None] = []
        for column in columns:
            bars = [b for b in slot.bars if b.ink in column]
            row.append(_cell(view, scale, standing, bars))
        cells.append(row)
    kind = "bar"
    table = Table(
        kind, [slot.name for slot in slots], series, cells, view.is_horizontal, standing.is_stacked
    )
    table.labels = [slot.text for slot in slots]
    return table


def _grounded(scale: Scale, standing: Stand, rows: list[Rule]) -> Scale:
    """The scale moved so that the common base is zero, where it nearly is: bars start at zero.

    Not where marks place the ticks, which is more exact than where a base ends under an axis line.
    """
    zero = scale.pixel(0)
    if scale.is_snapped or zero is None or abs(zero - standing.base) > 3:
        return scale
    edges = [b.bottom if abs(b.bottom - standing.base) < 2.6 else b.top for b in standing.bars]
    edges = [edge for edge in edges if abs(edge - standing.base) < 2.6]
    base = float(np.median(edges)) if edges else standing.base
    # A thick axis line hides where bars end.
    if any(abs(rule.at - base) < 2.6 for rule in rows) and abs(zero - base) > 0.75:
        return scale
    return replace(scale, offset=-scale.slope * base)


def _cell(view: View, scale: Scale, standing: Stand, bars: list[Bar]) -> Cell | None:
    if not bars:
        return None
    bar = max(bars, key=lambda b: b.area)
    base = standing.base
    far = bar.top if abs(bar.top - base) >= abs(bar.bottom - base) else bar.bottom
    near = bar.bottom if far == bar.top else bar.top
    if standing.is_stacked and not scale.is_log:
        start = scale.value(base) if abs(near - base) < 2.6 else scale.value(near)
        value = scale.value(far) - start
        if abs(near - base) < 2.6 and scale.pixel(0) is not None and abs(scale.pixel(0) - base) < 4:
            value = scale.value(far)
    else:
        value = scale.value(far)
    sure = scale.confidence * min(1.0, bar.fill + 0.03)
    if bar.height < 3:
        sure *= 0.7
    box = [bar.left, bar.top, bar.right, bar.bottom]
    if view.is_horizontal:
        box = [bar.top, bar.left, bar.bottom, bar.right]
    return Cell(value, round(sure, 3), box)


@dataclass
class Slot:
    name: str
    place: float
    bars: list[Bar]
    text: object = None


def _slots(bars: list[Bar], names: Labels) -> list[Slot]:
    """Categories in the order of the axis: groups of bars, each with its label."""
    groups = _groups(bars)
    if names.texts and len(names.texts) >= max(1, 0.5 * len(groups)):
        groups = _split_by_labels(bars, groups, names)
    middles = [float(np.mean([min(b.left for b in g), max(b.right for b in g)])) for g in groups]
    chosen = _match(middles, names)
    slots = []
    for index, group in enumerate(groups):
        label = chosen[index]
        text = names.texts[label] if label is not None else None
        name = text.text if text is not None else f"(unlabeled {index + 1})"
        slots.append(Slot(name, middles[index], group, text))
    return slots


def _groups(bars: list[Bar]) -> list[list[Bar]]:
    """Bars of one category stand side by side or on each other, with space between categories."""
    ordered = sorted(bars, key=lambda b: b.x)
    if len(ordered) < 2:
        return [ordered]
    groups: list[list[Bar]] = [[ordered[0]]]
    width = float(np.median([b.width for b in ordered]))
    for bar in ordered[1:]:
        group = groups[-1]
        end = max(b.right for b in group)
        again = any(b.ink == bar.ink and bar.left > b.right - 0.3 * width for b in group)
        if bar.left - end > max(2.5, 0.12 * width) or again:
            groups.append([bar])
        else:
            group.append(bar)
    return groups


def _split_by_labels(bars: list[Bar], groups: list[list[Bar]], names: Labels) -> list[list[Bar]]:
    """Groups by the nearest label instead, if every label then has bars and more than gaps give."""
    places = np.array(names.places)
    if len(places) < 2 or names.angle not in (0, 90, -90):
        return groups
    spacing = float(np.median(np.diff(np.sort(places))))
    by_label: list[list[Bar]] = [[] for _ in places]
    for bar in bars:
        nearest = int(np.abs(places - bar.x).argmin())
        if abs(places[nearest] - bar.x) > 0.55 * spacing:
            return groups
        by_label[nearest].append(bar)
    filled = [group for group in by_label if group]
    widths = [max(b.right for b in g) - min(b.left for b in g) for g in filled]
    if max(widths) > 1.02 * spacing:
        return groups
    return sorted(filled, key=lambda g: g[0].x)


def _match(middles: list[float], names: Labels) -> list[int | None]:
    """For every group the label that points to it, in order; oblique labels are counted off."""
    if not names.texts:
        return [None] * len(middles)
    places = np.array(names.places)
    if len(places) == len(middles):
        return list(range(len(middles)))
    spacing = float(np.median(np.diff(middles))) if len(middles) > 1 else 1e9
    shift = 0.0
    if names.angle not in (0, 90, -90) and len(middles) > 1:
        nearest = [float((places - m)[np.abs(places - m).argmin()]) for m in middles]
        shift = float(np.median(nearest))
    chosen: list[int | None] = []
    for middle in middles:
        index = int(np.abs(places - shift - middle).argmin())
        fits = abs(places[index] - shift - middle) < 0.5 * abs(spacing)
        chosen.append(index if fits and index not in chosen else None)
    return chosen


def _one_bar_per_slot(bars: list[Bar], slots: list[Slot]) -> bool:
    return len(slots) > 1 and all(len(slot.bars) == 1 for slot in slots)
