"""The table of a line or area chart: heights where labels point, or at markers."""

import numpy as np

from .axes import unsnapped
from .chart import Cell, Chart, Table, Unreadable
from .labels import Labels, numeric_labels
from .lines import Course, boundary, height_at, is_area, trace
from .numbers import format_number
from .scales import Scale
from .series import mark_inks, series_of


def line_table(chart: Chart, hidden: np.ndarray) -> Table | None:
    """The table of a line chart; None if no ink runs like a line."""
    region = chart.inks.region
    courses = [
        course
        for ink in mark_inks(chart)
        if (course := trace(chart.inks.labels, ink, region, hidden, _cover(chart, ink))) is not None
    ]
    courses = _real(chart, courses)
    if not courses:
        return None
    if chart.y_axis is None:
        raise Unreadable(
            "There are lines, but no numbers along the vertical axis to scale them by."
        )
    rows = _rows(chart, courses)
    if rows is None:
        raise Unreadable("There are lines, but no labels along the horizontal axis.")
    names, places, texts = rows
    scale = chart.y_axis.scale
    spacing = float(np.median(np.diff(places))) if len(places) > 1 else 40.0
    cells: list[list[Cell | None]] = [
        [_cell(scale, course, place, spacing) for course in courses] for place in places
    ]
    kept = [k for k, row in enumerate(cells) if any(cell is not None for cell in row)]
    table = Table(
        "line",
        [names[k] for k in kept],
        series_of(chart, [c.ink for c in courses]),
        [cells[k] for k in kept],
    )
    table.labels = [texts[k] for k in kept]
    chart.courses = courses
    return table


def _cover(chart: Chart, ink: int) -> np.ndarray:
    """[H, W]: how much of every pixel an ink covers, from its place between background and ink."""
    plot = chart.plot
    ground = plot.page if plot.panel is None else plot.panel
    way = chart.inks.colors[ink].lab - ground
    return np.clip(((plot.lab - ground) @ way) / float(way @ way), 0, 1)


def _real(chart: Chart, courses: list[Course]) -> list[Course]:
    """Without what is only the edge of another line: thin pieces beside a longer one."""
    if chart.legend is not None or len(courses) < 2:
        return courses
    longest = max(len(c.columns) for c in courses)
    return [c for c in courses if len(c.columns) > 0.25 * longest]


def _cell(scale: Scale, course: Course, place: float, spacing: float) -> Cell | None:
    found = height_at(course, place, spacing)
    if found is None:
        return None
    row, sure = found
    box = [place - 3, row - 3, place + 3, row + 3]
    return Cell(scale.value(row), round(sure * scale.confidence, 3), box)


def _rows(chart: Chart, courses: list[Course]):
    """Names of rows and the columns of pixels that they stand for."""
    axis = chart.x_axis
    markers = _marker_places(courses)
    if axis is not None and axis.side == "bottom" and len(markers) >= 3:
        ticks = np.array([tick.position for tick in axis.scale.ticks])
        on_ticks = np.mean([np.abs(markers - t).min() < 2.5 for t in ticks])
        if len(markers) > len(ticks) or on_ticks < 0.7:
            values = [axis.scale.value(place) for place in markers]
            return _rounded(values, axis.scale.step), list(markers), [None] * len(markers)
    labels = _labels(chart)
    if labels is None:
        return None
    places = _snapped(chart, labels)
    return [t.text for t in labels.texts], places, list(labels.texts)


def _labels(chart: Chart) -> Labels | None:
    bottom = chart.words.bottom
    axis = chart.x_axis
    if axis is not None and axis.side == "bottom" and len(axis.labels) >= len(bottom.texts) - 1:
        return numeric_labels(axis)
    return bottom if bottom.texts else None


def _snapped(chart: Chart, labels: Labels) -> list[float]:
    """Where labels point to: the tick mark or gridline that is nearest, if nearly all have one."""
    every = chart.plot.bottom_marks + [c.at for c in chart.plot.columns]
    marks = np.array(sorted(unsnapped(place) for place in every))
    places = np.array(labels.places, float)
    if len(marks) == 0 or len(places) == 0:
        return list(places)
    spacing = float(np.median(np.diff(np.sort(places)))) if len(places) > 1 else 40.0
    limit = 4.5 if labels.angle in (0, 90, -90) else 0.45 * spacing
    ticks = np.array(sorted(unsnapped(place) for place in chart.plot.bottom_marks))
    if len(ticks) == len(places) and labels.angle not in (0, 90, -90):
        return list(ticks)
    around = marks[(marks > places[0] - 0.4 * spacing) & (marks < places[-1] + 0.4 * spacing)]
    if len(around) == len(places) > 2 and np.abs(around - places).max() < 0.4 * spacing:
        return list(around)
    nearest = marks[np.abs(marks[None] - places[:, None]).argmin(1)]
    near = np.abs(nearest - places) < limit
    if near.mean() < 0.7:
        return list(places)
    return list(np.where(near, nearest, places))


def _marker_places(courses: list[Course]) -> np.ndarray:
    """Columns of markers over all lines, each once."""
    every = np.sort(np.concatenate([c.markers[:, 0] for c in courses if len(c.markers)] or [[]]))
    if len(every) == 0:
        return every
    groups = np.split(every, np.flatnonzero(np.diff(every) > 3) + 1)
    return np.array([float(np.median(group)) for group in groups])


def _rounded(values: list[float], step: float) -> list[str]:
    """Values along the axis as numbers no finer than a pixel; whole ones if they nearly are."""
    whole = np.round(values)
    if np.abs(np.array(values) - whole).max() < max(0.25, 0.0) and step < 0.5:
        return [str(int(v)) for v in whole]
    digits = max(0, int(np.ceil(-np.log10(max(step, 1e-12)))))
    return [format_number(round(v, digits), 12) for v in values]


def area_table(chart: Chart, hidden: np.ndarray) -> Table | None:
    """The table of an area chart; None if no ink fills down to the base."""
    region = chart.inks.region
    labels = np.where(hidden, -1, chart.inks.labels)
    inks = [ink for ink in mark_inks(chart) if is_area(labels, ink, region, None)]
    if not inks or chart.y_axis is None:
        return None
    rows = _rows(chart, [])
    if rows is None:
        return None
    names, places, texts = rows
    scale = chart.y_axis.scale
    cells, kept = [], []
    for index, place in enumerate(places):
        row: list[Cell | None] = []
        for ink in inks:
            edge = boundary(labels, [ink], region, place)
            if edge is None:
                row.append(None)
                continue
            top, bottom = edge
            lowest = max(e[1] for e in [boundary(labels, inks, region, place)] if e is not None)
            value = scale.value(top) - (scale.value(bottom) if lowest - bottom > 3 else 0)
            row.append(
                Cell(value, round(0.9 * scale.confidence, 3), [place - 2, top, place + 2, bottom])
            )
        if any(cell is not None for cell in row):
            cells.append(row)
            kept.append(index)
    table = Table(
        "area", [names[k] for k in kept], series_of(chart, inks), cells, False, len(inks) > 1
    )
    table.labels = [texts[k] for k in kept]
    return table
