"""Decides what kind of chart it is, and has its table read."""

import numpy as np

from .bar_tables import bar_table
from .chart import Chart, Table, Unreadable
from .line_tables import area_table, line_table
from .pie_tables import pie_table
from .point_tables import point_table
from .reader import Reader


def make_table(chart: Chart, reader: Reader) -> Table | None:
    """The table of a chart; None, with the reason among its problems, if it cannot be read."""
    if not chart.inks.colors:
        chart.problems.append("There are no marks of a chart in this image.")
        return None
    hidden = hidden_by(chart)
    try:
        for attempt in (pie_table, bar_table, area_table, point_table, line_table):
            table = attempt(chart, hidden)
            if table is not None:
                return table
    except Unreadable as problem:
        chart.problems.append(str(problem))
        return None
    chart.problems.append("The marks are neither bars, lines, areas, sectors nor points.")
    return None


def hidden_by(chart: Chart) -> np.ndarray:
    """[H, W] bool: where the legend and texts are, which are no marks."""
    hidden = np.zeros(chart.plot.lab.shape[:2], bool)
    boxes = [text.box for text in chart.words.rest]
    if chart.legend is not None:
        boxes.append(chart.legend.box)
    for left, top, right, bottom in boxes:
        hidden[max(0, int(top)) : int(bottom) + 1, max(0, int(left)) : int(right) + 1] = True
    return hidden
