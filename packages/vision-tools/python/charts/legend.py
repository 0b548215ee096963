"""The legend: texts with a small swatch of a mark's color at their left."""

from dataclasses import dataclass

import cv2
import numpy as np


from .inks import Inks
from .plot import Plot
from .spaces import with_spaces
from .texts import Text, join_lines


@dataclass(eq=False)
class Entry:
    """One entry: its name, the index of its ink, and the boxes of both in pixels."""

    name: str
    ink: int
    swatch: np.ndarray
    text: Text
    # The text as the OCR gave it, perhaps with the swatch in it.
    given: Text


@dataclass(eq=False)
class Legend:
    entries: list[Entry]
    box: np.ndarray
    title: Text | None = None


def find_legend(plot: Plot, inks: Inks, texts: list[Text], every: list[Text]) -> Legend | None:
    """The legend among texts that are no labels of an axis; None if fewer than two stand in line.

    every: all texts, in which no swatch can be
    """
    gap = plot.gap()
    found = [entry for text in texts if (entry := _entry(plot, inks, gap, text)) is not None]
    found = [entry for entry in found if not _in_text(entry, every)]
    group: list[Entry] = []
    for entry in found:
        column = [o for o in found if abs(o.swatch[0] - entry.swatch[0]) < 5]
        row = [o for o in found if abs(o.text.y - entry.text.y) < 0.5 * entry.text.height]
        group = max([group, column, row], key=len)
    # Legends in several columns: entries on the rows of the group.
    levels = [entry.text.y for entry in group]
    group = [e for e in found if e in group or any(abs(e.text.y - y) < 4 for y in levels)]
    if len(group) < 2:
        return None
    group = _with_tails(group, texts)
    boxes = np.array([np.concatenate([e.swatch, e.text.box]) for e in group])
    low = np.minimum(boxes[:, :2], boxes[:, 4:6]).min(0) - 5
    high = np.maximum(boxes[:, 2:4], boxes[:, 6:8]).max(0) + 5
    box = np.concatenate([low, high])
    for entry in group:
        entry.name = with_spaces(gap, entry.text)
    _sort(group)
    return Legend(group, box, _heading(group, texts, box))


def _in_text(entry: Entry, texts: list[Text]) -> bool:
    """Whether a swatch is only a letter of another text."""
    x, y = (entry.swatch[0] + entry.swatch[2]) / 2, (entry.swatch[1] + entry.swatch[3]) / 2
    # A lone sign is what the OCR made of the swatch.
    others = (t for t in texts if t is not entry.given and len(t.text) > 1)
    return any(t.box[0] <= x <= t.box[2] and t.box[1] <= y <= t.box[3] for t in others)


def _sort(group: list[Entry]) -> None:
    """By rows from the top, each from the left."""
    group.sort(key=lambda e: e.text.y)
    row, last = 0, group[0].text.y
    rows = {}
    for entry in group:
        if entry.text.y - last > 0.5 * entry.text.height:
            row += 1
            last = entry.text.y
        rows[id(entry)] = row
    group.sort(key=lambda e: (rows[id(e)], e.text.x))


def _with_tails(group: list[Entry], texts: list[Text]) -> list[Entry]:
    """Joins what the OCR cut off an entry's text."""
    heads = {id(entry.given) for entry in group}
    for entry in group:
        tails = [
            t
            for t in texts
            if id(t) not in heads
            and abs(t.y - entry.text.y) < 0.4 * entry.text.height
            and t.box[0] >= entry.text.box[2] - 4
        ]
        joined = join_lines([entry.text, *tails], 0.8)
        entry.text = min(joined, key=lambda t: t.box[0])
    return group


def _entry(plot: Plot, inks: Inks, gap: np.ndarray, text: Text) -> Entry | None:
    if text.angle != 0 or text.height < 5:
        return None
    line = text.height
    left, right = int(text.box[0] - 4.8 * line), int(text.box[0] + 1.7 * line)
    top, bottom = int(text.y - 0.8 * line), int(np.ceil(text.y + 0.8 * line)) + 1
    left, top = max(0, left), max(0, top)
    window = inks.labels[top:bottom, left : min(plot.width, right)]
    if window.size == 0:
        return None
    ink = (gap[top:bottom, left : left + window.shape[1]] > 12).astype(np.uint8)
    count, parts, stats, _ = cv2.connectedComponentsWithStats(ink, connectivity=8)
    best: tuple[float, Entry] | None = None
    for part in range(1, count):
        x, y, w, h, area = stats[part]
        edge = x == 0 or y == 0 or y + h >= window.shape[0] or x + w >= window.shape[1]
        small = w < 4 or area < 8 or h > 1.5 * line or area < 0.2 * w * h
        if edge or small or abs(top + y + h / 2 - text.y) > 0.45 * line:
            continue
        begin, end = left + x, left + x + w
        if end > text.box[0] + 3 and not _is_read_swatch(text, begin, end):
            continue
        space = text.box[0] - end
        if space > 2.4 * line:
            continue
        index = _ink_of(plot, inks, gap, (top, left), parts == part)
        if index is None or (end > text.box[0] + 3 and index == _text_ink(inks, text)):
            continue
        box = np.array([begin, top + y, end, top + y + h], float)
        score = float(area) - 3 * max(0.0, space)
        if best is None or score > best[0]:
            best = (score, Entry(text.text, index, box, text, text))
    if best is None:
        return None
    entry = best[1]
    if entry.swatch[2] > text.box[0]:
        entry.text = _without_swatch(gap, text, entry.swatch)
    return entry


def _is_read_swatch(text: Text, begin: float, end: float) -> bool:
    """Whether something inside a text's box can be a swatch that the OCR took for a letter."""
    return begin <= text.box[0] + 0.5 * text.height and end <= text.box[0] + 1.5 * text.height


def _ink_of(plot: Plot, inks: Inks, gap: np.ndarray, corner, part: np.ndarray) -> int | None:
    """The ink that a swatch is drawn in; None if it is none of the marks'.

    Thin strokes may hold no pixel of the full color: then the direction from the background decides.
    """
    rows, columns = np.nonzero(part)
    rows, columns = rows + corner[0], columns + corner[1]
    owners = inks.labels[rows, columns]
    known = owners[owners >= 0]
    if len(known) >= max(4, 0.25 * len(owners)):
        return int(np.bincount(known).argmax())
    strength = gap[rows, columns]
    strongest = strength >= np.percentile(strength, 60)
    color = plot.lab[rows[strongest], columns[strongest]].mean(0)
    best: tuple[float, int] | None = None
    for ground in plot.backgrounds:
        way = color - ground
        for index, ink in enumerate(inks.colors):
            whole = ink.lab - ground
            share = float(way @ whole) / float(whole @ whole)
            off = float(np.sqrt(((way - share * whole) ** 2).sum()))
            if 0.3 < share < 1.1 and off < 9 * share + 2 and (best is None or off < best[0]):
                best = (off, index)
    return None if best is None else best[1]


def _text_ink(inks: Inks, text: Text) -> int:
    """The ink that a text itself is written in, or −1."""
    left, top, right, bottom = text.box.astype(int)
    part = inks.labels[max(0, top) : bottom, max(0, left + (right - left) // 3) : right]
    part = part[part >= 0]
    return int(np.bincount(part).argmax()) if len(part) else -1


def _without_swatch(gap: np.ndarray, text: Text, swatch: np.ndarray) -> Text:
    box = text.box.copy()
    box[0] = swatch[2] + 1
    words = text.text
    # What the OCR made of a swatch is a sign, or a letter apart from the word.
    while words and not words[0].isalnum() and words[0] not in "($":
        words = words[1:]
    return Text(words.strip() or text.text, box, text.confidence)


def _heading(group: list[Entry], texts: list[Text], box: np.ndarray) -> Text | None:
    above = [
        t
        for t in texts
        if 0 < group[0].text.box[1] - t.box[3] + 6 < 2.2 * group[0].text.height
        and box[0] - 8 < t.box[0] < box[2]
        and t.text not in {e.text.text for e in group}
    ]
    return above[0] if len(above) == 1 else None


