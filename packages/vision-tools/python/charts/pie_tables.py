"""The table of a pie: a name and a share for every sector."""

import re

import numpy as np

from .chart import Cell, Chart, Series, Table
from .pies import Pie, Sector, find_pie
from .series import legend_names
from .texts import Text, join_lines

_PERCENT = re.compile(r"(\d{1,3}(?:\.\d+)?)\s*%")


def pie_table(chart: Chart, hidden: np.ndarray) -> Table | None:
    """Shares in percent; None if there is no circle of several colors."""
    labels = chart.inks.labels
    if chart.legend is not None:
        left, top, right, bottom = chart.legend.box.astype(int)
        labels = labels.copy()
        labels[max(0, top) : bottom, max(0, left) : right] = -1
    gap = chart.plot.gap()
    pie = find_pie(labels, chart.inks.colors, gap)
    if pie is None:
        return None
    names = legend_names(chart)
    texts = _texts(chart)
    near = {} if chart.legend is not None else _names_beside(pie, texts)
    rows, cells, marks, used = [], [], [], []
    for index, sector in enumerate(pie.sectors):
        label = None
        if sector.ink in names:
            name = names[sector.ink][0]
        elif index in near:
            label = near[index]
            name = _PERCENT.sub("", label.text).strip(" ()\n,:") or f"(unlabeled {index + 1})"
        else:
            name = f"(unlabeled {index + 1})"
        share, sure = _share(pie, sector, texts)
        x, y = pie.place(sector.middle, 0.5 * (1 + pie.hole))
        rows.append(name)
        cells.append([Cell(share, sure, [x - 4, y - 4, x + 4, y + 4])])
        marks.append(sector)
        used.append(label)
    table = Table("pie", rows, [Series("Share (%)", "kind", None)], cells)
    table.labels = used
    table.points = []
    chart.pie = pie
    return table


def _texts(chart: Chart) -> list[Text]:
    words = chart.words
    found = [t for t in [*words.bottom.texts, *words.left.texts, *words.rest] if t.angle == 0]
    found += [t for t in (words.x_title, words.y_title) if t is not None]
    joined = join_lines(list({id(t): t for t in found}.values()), 0.6)
    return joined


def _names_beside(pie: Pie, texts: list[Text]) -> dict[int, Text]:
    """For every sector the text that is nearest to the middle of its arc, each text once."""
    pairs = []
    for index, sector in enumerate(pie.sectors):
        x, y = pie.place(sector.middle, 1.08)
        inner = pie.place(sector.middle, 0.6)
        for text in texts:
            if text.number is not None or not re.search("[A-Za-z]", text.text):
                continue
            away = min(_distance(text, x, y), 1.5 * _distance(text, *inner) + 4)
            if away < 0.45 * pie.radius:
                pairs.append((away, index, text))
    chosen: dict[int, Text] = {}
    taken: set[int] = set()
    for _, index, text in sorted(pairs, key=lambda p: p[0]):
        if index not in chosen and id(text) not in taken:
            chosen[index] = text
            taken.add(id(text))
    return chosen


def _distance(text: Text, x: float, y: float) -> float:
    dx = max(text.box[0] - x, 0, x - text.box[2])
    dy = max(text.box[1] - y, 0, y - text.box[3])
    return float(np.hypot(dx, dy))


def _share(pie: Pie, sector: Sector, texts: list[Text]) -> tuple[float, float]:
    """The share in percent: as written in or beside the sector if that agrees with its angle."""
    measured = 100 * sector.share
    best = None
    for text in texts:
        match = _PERCENT.search(text.text)
        if match is None:
            continue
        written = float(match[1])
        turn = np.degrees(np.arctan2(text.x - pie.x, pie.y - text.y)) % 360
        inside = sector.start <= turn <= sector.end or sector.start <= turn + 360 <= sector.end
        off = abs(written - measured)
        if inside and off < 1.2 and (best is None or off < best[0]):
            best = (off, written)
    if best is not None:
        return best[1], 0.98
    return round(measured, 2), 0.93 if sector.share > 0.03 else 0.75
