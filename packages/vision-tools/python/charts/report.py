"""A chart as JSON: table, axes, texts with roles, and marks as shapes."""

import math

import cv2
import numpy as np

from .axes import Axis
from .chart import Cell, Chart, Table
from .colors import color_name, to_hex
from .lines import Course
from .scales import Scale
from .texts import Text


def report(chart: Chart) -> dict:
    """The chart as plain lists and dicts; boxes are [left, top, right, bottom] in pixels."""
    plot = chart.plot
    return {
        "size": [plot.width, plot.height],
        "problems": chart.problems,
        "title": _words(chart.words.title),
        "xTitle": _words(chart.words.x_title),
        "yTitle": _words(chart.words.y_title),
        "page": to_hex(plot.page),
        "panel": None if plot.panel is None else to_hex(plot.panel),
        "plot": None if plot.box is None else _rounded(plot.box),
        "xAxis": _axis(chart.x_axis),
        "yAxis": _axis(chart.y_axis),
        "legend": _legend(chart),
        "table": None if chart.table is None else _table(chart, chart.table),
        "texts": _texts(chart),
        "rules": _rules(chart),
        "marks": _marks(chart),
    }


def _rounded(values, digits: int = 1) -> list[float]:
    return [round(float(value), digits) for value in values]


def _words(text: Text | None) -> str | None:
    return None if text is None else text.text


def _axis(axis: Axis | None) -> dict | None:
    if axis is None:
        return None
    scale = axis.scale
    ticks = sorted(scale.ticks, key=lambda tick: tick.position)
    return {
        "side": axis.side,
        "isLog": scale.is_log,
        "unit": scale.unit,
        "confidence": round(scale.confidence, 3),
        "ticks": [{"value": t.value, "at": round(float(t.position), 1)} for t in ticks],
    }


def _legend(chart: Chart) -> dict | None:
    if chart.legend is None:
        return None
    return {
        "box": _rounded(chart.legend.box),
        "title": _words(chart.legend.title),
        "entries": [
            {
                "name": entry.name,
                "color": to_hex(chart.inks.colors[entry.ink].lab),
                "swatch": _rounded(entry.swatch),
                "textBox": _rounded(entry.text.box),
            }
            for entry in chart.legend.entries
        ],
    }


def _table(chart: Chart, table: Table) -> dict:
    across = None if chart.x_axis is None else chart.x_axis.scale
    upward = None if chart.y_axis is None else chart.y_axis.scale
    scale = across if table.is_horizontal else upward
    scale = None if table.kind == "pie" else scale
    return {
        "kind": table.kind,
        "isHorizontal": table.is_horizontal,
        "isStacked": table.is_stacked,
        "rows": table.rows,
        "series": [
            {
                "name": series.name,
                "namedBy": series.named_by,
                "color": None if series.color is None else to_hex(series.color),
                "colorName": None if series.color is None else color_name(series.color),
            }
            for series in table.series
        ],
        "cells": [
            [None if cell is None else _cell(cell, scale) for cell in row] for row in table.cells
        ],
        "points": [
            [
                {"x": _read(x, across), "y": _read(y, upward), "confidence": _sure(sure)}
                for x, y, sure in points
            ]
            for points in table.points
        ],
    }


def _cell(cell: Cell, scale: Scale | None) -> dict:
    value = _read(cell.value, scale)
    return {"value": value, "confidence": _sure(cell.confidence), "box": _rounded(cell.box)}


def _read(value: float, scale: Scale | None) -> float:
    """A value with the digits that a fifth of a pixel decides, and three at least."""
    if value == 0:
        return 0.0
    size = math.floor(math.log10(abs(value)))
    digits = 2 - size
    if scale is not None and not scale.is_log:
        digits = max(min(digits, 0), -math.floor(math.log10(0.2 * scale.step)))
    return round(value, digits)


def _sure(confidence: float) -> float:
    """No reading of pixels is certain: of those that nothing speaks against about 2 % are wrong."""
    return round(min(confidence, 0.98), 3)


def _texts(chart: Chart) -> list[dict]:
    words = chart.words
    ticks = {}
    for name, axis in (("y_tick", chart.y_axis), ("x_tick", chart.x_axis)):
        if axis is not None:
            ticks.update({id(text): name for text in axis.labels})
    rows = {id(text) for text in (chart.table.labels if chart.table is not None else []) if text}
    roles: list[tuple[Text, str]] = []
    for text, role in (
        (words.title, "title"),
        (words.x_title, "x_title"),
        (words.y_title, "y_title"),
    ):
        if text is not None:
            roles.append((text, role))
    for text in [*words.bottom.texts, *words.left.texts]:
        role = "category" if id(text) in rows and id(text) not in ticks else ticks.get(id(text))
        roles.append((text, role or "tick"))
    known = {id(text) for text, _ in roles}
    for axis, role in ((chart.y_axis, "y_tick"), (chart.x_axis, "x_tick")):
        if axis is not None:
            roles += [(text, role) for text in axis.labels if id(text) not in known]
    if chart.legend is not None:
        roles += [(entry.text, "legend") for entry in chart.legend.entries]
        if chart.legend.title is not None:
            roles.append((chart.legend.title, "legend_title"))
    known = {id(text) for text, _ in roles}
    for text in words.rest:
        if id(text) in rows:
            role = "category"
        else:
            role = "value" if text.number is not None else "other"
        if id(text) not in known:
            roles.append((text, role))
    return [
        {
            "text": text.text,
            "role": role,
            "box": _rounded(text.box),
            "angle": text.angle,
            "confidence": round(text.confidence, 3),
        }
        for text, role in roles
    ]


def _rules(chart: Chart) -> list[dict]:
    plot = chart.plot
    if plot.box is None:
        return []
    left, top, right, bottom = plot.box
    found = []
    for rule in plot.rows:
        kind = "axis" if min(abs(rule.at - bottom), abs(rule.at - top)) < 3 else "gridline"
        line = _rounded([rule.start, rule.at, rule.end, rule.at])
        found.append({"kind": kind, "line": line, "color": to_hex(rule.color)})
    for rule in plot.columns:
        kind = "axis" if min(abs(rule.at - left), abs(rule.at - right)) < 3 else "gridline"
        line = _rounded([rule.at, rule.start, rule.at, rule.end])
        found.append({"kind": kind, "line": line, "color": to_hex(rule.color)})
    found += [
        {"kind": "tick", "line": _rounded([at, bottom, at, bottom + 5]), "color": "#000000"}
        for at in plot.bottom_marks
    ]
    found += [
        {"kind": "tick", "line": _rounded([left - 5, at, left, at]), "color": "#000000"}
        for at in plot.left_marks
    ]
    return found


def _marks(chart: Chart) -> list[dict]:
    """Shapes of the marks with the row and the series that they stand for; −1 for none."""
    table = chart.table
    if table is None:
        return []
    colors = [None if s.color is None else to_hex(s.color) for s in table.series]
    if table.kind == "pie":
        return _sectors(chart, table)
    if table.kind == "scatter":
        return [
            {
                "kind": "point",
                "row": -1,
                "series": series,
                "color": colors[series],
                "circle": _rounded([x, y, cloud.radius]),
            }
            for series, cloud in enumerate(chart.clouds)
            for x, y in cloud.centers
        ]
    marks = []
    if table.kind == "line":
        for series, course in enumerate(chart.courses):
            shape = {"kind": "line", "row": -1, "series": series, "color": colors[series]}
            marks.append({**shape, "points": _simplified(course)})
            marks += [
                {
                    "kind": "marker",
                    "row": -1,
                    "series": series,
                    "color": colors[series],
                    "circle": _rounded([x, y, course.reach]),
                }
                for x, y in course.markers
            ]
    kind = {"bar": "bar", "area": "area", "line": "value"}[table.kind]
    for row, cells in enumerate(table.cells):
        for series, cell in enumerate(cells):
            if cell is not None:
                mark = {"kind": kind, "row": row, "series": series, "color": colors[series]}
                marks.append({**mark, "box": _rounded(cell.box)})
    return marks


def _sectors(chart: Chart, table: Table) -> list[dict]:
    pie = chart.pie
    return [
        {
            "kind": "sector",
            "row": row,
            "series": 0,
            "color": to_hex(chart.inks.colors[sector.ink].lab),
            "circle": _rounded([pie.x, pie.y, pie.radius]),
            "hole": round(pie.hole * pie.radius, 1),
            "angles": _rounded([sector.start, sector.end], 2),
        }
        for row, sector in enumerate(pie.sectors[: len(table.rows)])
    ]


def _simplified(course: Course) -> list[list[float]]:
    """The course as corners of a polyline that stays within a pixel of it."""
    columns = course.columns
    line = np.column_stack([columns + 0.5, course.centers[columns]]).astype(np.float32)
    short = cv2.approxPolyDP(line.reshape(-1, 1, 2), 0.8, False)[:, 0]
    return [_rounded(point) for point in short]
