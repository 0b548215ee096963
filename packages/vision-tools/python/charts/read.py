"""Reads a chart: from pixels to the table behind it, and every part that was found on the way."""

import cv2
import numpy as np

from .axes import Axis, find_axes
from .chart import Chart
from .inks import Inks, find_inks
from .labels import sort_words
from .legend import Legend, find_legend
from .plot import Plot, find_plot
from .reader import Reader
from .rereads import missed_numbers
from .rules import Rule
from .tables import make_table
from .texts import Text, join_upright, split_wide, texts_of


def read_chart(rgb: np.ndarray, reader: Reader) -> Chart:
    """Reads a chart in an [H, W, 3] uint8 RGB image."""
    texts = join_upright(split_wide(rgb, texts_of(reader.text(rgb))))
    plot = find_plot(rgb, texts)
    y_axis, x_axis = find_axes(plot, texts)
    if _is_poor(y_axis, plot.left_marks, plot.rows):
        texts += missed_numbers(plot, texts, reader, "left")
        y_axis, x_axis = find_axes(plot, texts)
    if _is_poor(x_axis, plot.bottom_marks, plot.columns) and _is_bare(plot, texts):
        texts += missed_numbers(plot, texts, reader, "bottom")
        y_axis, x_axis = find_axes(plot, texts)
    _grow(plot, y_axis, x_axis)
    inks = find_inks(plot, texts)
    used = {id(t) for axis in (y_axis, x_axis) if axis is not None for t in axis.labels}
    legend = find_legend(plot, inks, [t for t in texts if id(t) not in used], texts, reader)
    others = texts
    if legend is not None:
        others = [t for t in texts if not _covers(legend.box, t)]
    box = plot.box if plot.box is not None else _marks_box(inks, legend)
    words = sort_words(plot, others, box, (y_axis, x_axis), reader)
    chart = Chart(plot, words, inks, legend, y_axis, x_axis, None, [])
    chart.table = make_table(chart, reader)
    return chart


def _is_poor(axis: Axis | None, marks: list[float], rules: list[Rule]) -> bool:
    """Whether an axis has few numbers for its ticks or gridlines: some may not have been read."""
    if axis is None or len(axis.scale.ticks) < 4:
        return True
    return len(axis.scale.ticks) < 0.6 * max(len(marks), len(rules))


def _is_bare(plot: Plot, texts: list[Text]) -> bool:
    """Whether hardly any labels were read under the plot."""
    if plot.box is None:
        return False
    top = plot.box[3] - 3
    row = [
        t for t in texts if top < t.box[1] < top + 24 and plot.box[0] - 9 < t.x < plot.box[2] + 9
    ]
    return len(row) < max(2, 0.5 * max(len(plot.bottom_marks), len(plot.columns) - 2))


def _grow(plot: Plot, y_axis: Axis | None, x_axis: Axis | None) -> None:
    """Extends the plot to every tick: what looked like its edge may have been a gridline."""
    if plot.box is None:
        return
    for axis, first, last in ((y_axis, 1, 3), (x_axis, 0, 2)):
        # Labels of categories, such as years under bars, stand inside anyway.
        places = [tick.position for tick in axis.scale.ticks] if axis is not None else []
        if places:
            plot.box[first] = min(plot.box[first], min(places))
            plot.box[last] = max(plot.box[last], max(places))


def _marks_box(inks: Inks, legend: Legend | None) -> np.ndarray:
    """Where the marks are, without the legend."""
    mask = inks.labels >= 0
    if legend is not None:
        left, top, right, bottom = legend.box.astype(int)
        mask = mask.copy()
        mask[max(0, top) : bottom, max(0, left) : right] = False
    count, _, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=8)
    if count < 2:
        return np.array([0, 0, mask.shape[1], mask.shape[0]], float)
    left, top, w, h, _ = stats[1 + stats[1:, cv2.CC_STAT_AREA].argmax()]
    return np.array([left, top, left + w, top + h], float)


def _covers(box: np.ndarray, text: Text) -> bool:
    return box[0] <= text.x <= box[2] and box[1] <= text.y <= box[3]
