"""The legend: texts with a small swatch of a mark's color at their left."""

from dataclasses import dataclass

import cv2
import numpy as np

from .inks import Inks
from .plot import Plot
from .reader import Reader
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


def find_legend(
    plot: Plot, inks: Inks, texts: list[Text], every: list[Text], reader: Reader
) -> Legend | None:
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
    group = _one_per_swatch(group)
    if len({entry.ink for entry in group}) < max(2, 0.5 * len(group)):
        return None
    group = _with_tails(group, texts)
    group += _unread(plot, inks, group, reader)
    boxes = np.array([np.concatenate([e.swatch, e.text.box]) for e in group])
    low = np.minimum(boxes[:, :2], boxes[:, 4:6]).min(0) - 5
    high = np.maximum(boxes[:, 2:4], boxes[:, 6:8]).max(0) + 5
    box = np.concatenate([low, high])
    for entry in group:
        entry.name = entry.text.text
    _sort(group)
    return Legend(group, box, _heading(group, texts, box))


def _in_text(entry: Entry, texts: list[Text]) -> bool:
    """Whether a swatch is only a letter of another text."""
    x, y = (entry.swatch[0] + entry.swatch[2]) / 2, (entry.swatch[1] + entry.swatch[3]) / 2
    # A lone sign is what the OCR made of the swatch.
    others = (t for t in texts if t is not entry.given and len(t.text) > 1)
    return any(t.box[0] <= x <= t.box[2] and t.box[1] <= y <= t.box[3] for t in others)


def _one_per_swatch(group: list[Entry]) -> list[Entry]:
    """Without entries of signs, and without a second text for one swatch."""
    kept: list[Entry] = []
    for entry in sorted(group, key=lambda e: -len(e.text.text)):
        same = any(np.abs(entry.swatch - other.swatch).max() < 4 for other in kept)
        if not same and any(letter.isalnum() for letter in entry.text.text):
            kept.append(entry)
    return kept


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


def _unread(plot: Plot, inks: Inks, group: list[Entry], reader: Reader) -> list[Entry]:
    """Entries whose text the OCR passed over: swatches like the others', in their column."""
    boxes = np.array([entry.swatch for entry in group])
    left = float(np.median(boxes[:, 0]))
    sizes = boxes[:, 2:] - boxes[:, :2]
    width, height = np.median(sizes, 0)
    if np.abs(boxes[:, 0] - left).max() > 4 or np.abs(sizes - [width, height]).max() > 4:
        return []
    line = float(np.median([entry.text.height for entry in group]))
    start = float(np.median([entry.text.box[0] for entry in group]))
    end = max(entry.text.box[2] for entry in group)
    found = []
    for index in sorted({*range(len(inks.colors))} - {entry.ink for entry in group}):
        strip = (inks.labels[:, int(left) - 3 : int(left + width) + 4] == index).astype(np.uint8)
        count, _, stats, _ = cv2.connectedComponentsWithStats(strip, connectivity=8)
        for x, y, w, h, _ in stats[1:count]:
            alike = abs(w - width) < 4 and abs(h - height) < 4
            middle = y + h / 2
            near = min(abs(middle - entry.text.y) for entry in group) < 2.6 * line
            taken = any(abs(middle - entry.text.y) < 0.6 * line for entry in group)
            if taken or not (alike and near):
                continue
            top, bottom = int(middle - 0.65 * line), int(np.ceil(middle + 0.65 * line))
            right = min(plot.width, int(end + 0.4 * (end - start)) + 4)
            part = plot.rgb[max(0, top) : bottom, int(start) - 1 : right]
            words, confidence = reader.line(np.ascontiguousarray(part))
            if confidence > 0.6 and words.strip():
                text = Text(words.strip(), np.array([start, top, end, bottom]), confidence)
                swatch = np.array([left - 3 + x, y, left - 3 + x + w, y + h], float)
                found.append(Entry(text.text, index, swatch, text, text))
    return found


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
    best: tuple[float, Entry] | None = None
    for index, x, y, w, h, area in _patches(plot, inks, gap, window, (top, left)):
        edge = x == 0 or y == 0 or y + h >= window.shape[0] or x + w >= window.shape[1]
        small = w < 4 or area < 8 or h > 1.5 * line or area < 0.2 * w * h
        if edge or small or abs(top + y + h / 2 - text.y) > 0.45 * line:
            continue
        begin, end = left + x, left + x + w
        if end > text.box[0] + 3 and not _is_read_swatch(plot, gap, text, (begin, top + y, end, h)):
            continue
        space = text.box[0] - end
        if space > 2.4 * line:
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


def _patches(plot: Plot, inks: Inks, gap: np.ndarray, window: np.ndarray, corner):
    """Connected patches in a window as (ink, left, top, width, height, area).

    First of every ink alone, which gridlines do not join; then of whatever is no background,
    whose color may be too faint for an ink.
    """
    top, left = corner
    for index in np.unique(window):
        if index < 0:
            continue
        mask = cv2.morphologyEx(
            (window == index).astype(np.uint8), cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8)
        )
        count, _, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
        for part in range(1, count):
            yield (int(index), *(int(v) for v in stats[part]))
    height, width = window.shape
    faint = (gap[top : top + height, left : left + width] > 12).astype(np.uint8)
    count, parts, stats, _ = cv2.connectedComponentsWithStats(faint, connectivity=8)
    for part in range(1, count):
        index = _ink_of(plot, inks, gap, corner, parts == part)
        if index is not None:
            yield (index, *(int(v) for v in stats[part]))


def _is_read_swatch(plot: Plot, gap: np.ndarray, text: Text, patch) -> bool:
    """Whether a patch inside a text's box can be a swatch that the OCR took for a letter.

    It stands first, and has another color than the letters.
    """
    begin, top, end, height = patch
    line = text.height
    if begin > text.box[0] + 0.5 * line or end > text.box[0] + 1.5 * line:
        return False
    left, upper, right, lower = text.box.astype(int)
    letters = _strongest(
        plot, gap, (upper, lower), (max(left + (right - left) // 2, int(end) + 1), right)
    )
    own = _strongest(plot, gap, (top, top + height), (begin, end))
    if letters is None or own is None:
        return False
    return float(np.sqrt(((letters - own) ** 2).sum())) > 28


def _strongest(plot: Plot, gap: np.ndarray, rows, columns) -> np.ndarray | None:
    """The color of the pixels that are furthest from the background."""
    part = gap[max(0, rows[0]) : rows[1], max(0, columns[0]) : columns[1]]
    if part.size == 0:
        return None
    strong = part >= np.percentile(part, 85)
    return plot.lab[max(0, rows[0]) : rows[1], max(0, columns[0]) : columns[1]][strong].mean(0)


def _ink_of(plot: Plot, inks: Inks, gap: np.ndarray, corner, part: np.ndarray) -> int | None:
    """The ink that a swatch is drawn in; None if it is none of the marks'.

    Thin strokes may hold no pixel of the full color: then its direction from the background
    decides.
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


def _without_swatch(gap: np.ndarray, text: Text, swatch: np.ndarray) -> Text:
    box = text.box.copy()
    box[0] = swatch[2] + 1
    words = text.text
    # The OCR reads a swatch as a sign, or as a letter apart from the word.
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
