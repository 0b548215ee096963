"""Labels of categories at the bottom or the left of a plot, also turned ones; titles."""

from dataclasses import dataclass, field

import numpy as np

from .axes import Axis
from .colors import distance, to_rgb
from .plot import Plot
from .reader import Reader, angle_of, missed_words, read_turned, reread_upright
from .texts import Text, join_lines, join_wrapped, tight_box


@dataclass
class Labels:
    """Labels of one edge in the order of the axis, with where each one points to along the edge."""

    texts: list[Text]
    places: list[float]
    angle: float = 0.0


@dataclass
class Words:
    """All texts of a chart by their place."""

    title: Text | None = None
    bottom: Labels = field(default_factory=lambda: Labels([], []))
    left: Labels = field(default_factory=lambda: Labels([], []))
    x_title: Text | None = None
    y_title: Text | None = None
    rest: list[Text] = field(default_factory=list)


def sort_words(
    plot: Plot,
    texts: list[Text],
    box: np.ndarray,
    axes: tuple[Axis | None, Axis | None],
    reader: Reader,
) -> Words:
    """Tells titles, labels of both edges and other texts apart.

    box: where the plot is
    axes: the vertical and the horizontal one, whose labels stand at one edge only
    """
    words = Words()
    left, top, right, bottom = box
    gap = distance(plot.lab, plot.page)
    upward = [] if axes[0] is None else axes[0].labels
    across = [] if axes[1] is None else axes[1].labels
    below, texts = _split(
        texts, lambda t: t.box[1] > bottom - 3 and t.x > left - 60 and t not in upward
    )
    digits = [tight_box(gap, t.box) for t in texts if t.number is not None and t.angle == 0]
    usual = float(np.median([b[3] - b[1] for b in digits])) if digits else 9.5
    words.bottom, below = _bottom(plot, gap, below, box, usual, reader)
    beside, texts = _split(texts, lambda t: t.box[2] < left + 4 and top - 14 < t.y < bottom + 14)
    beside = [t for t in beside if t not in across]
    upright = [t for t in beside if t.angle == 90 and t.height > 20]
    if upright:
        words.y_title = reread_upright(plot.rgb, gap, min(upright, key=lambda t: t.x), reader)
    words.left = _left([t for t in beside if t.angle != 90], left)
    named = [*words.left.texts, *upright]
    words.rest = [t for t in beside if not any(_inside(t, whole) for whole in named)]
    centered = [t for t in join_lines(below) if t.angle == 0 and left - 40 < t.x < right + 40]
    if centered:
        words.x_title = min(centered, key=lambda t: abs(t.x - (left + right) / 2) + t.y * 0.2)
        below = [t for t in below if not _inside(t, words.x_title)]
    above, texts = _split(texts, lambda t: t.box[3] < top + 3 and t.angle == 0)
    heads = [t for t in join_lines(above, 1.0) if len(t.text) > 2 and t.number is None]
    if heads:
        words.title = max(heads, key=lambda t: t.height * min(t.width, 200) - t.y * 0.1)
        above = [t for t in above if not _inside(t, words.title)]
    words.rest += above + below + texts
    return words


def _split(texts: list[Text], test) -> tuple[list[Text], list[Text]]:
    return [t for t in texts if test(t)], [t for t in texts if not test(t)]


def _inside(text: Text, whole: Text) -> bool:
    return (
        whole.box[0] - 1 <= text.x <= whole.box[2] + 1
        and whole.box[1] - 1 <= text.y <= whole.box[3] + 1
    )


def _bottom(plot, gap, below, box, usual: float, reader: Reader) -> tuple[Labels, list[Text]]:
    band = _band(gap, box, usual)
    if band is not None and not _is_upright_row(below, band, usual):
        angle = angle_of(_ink(gap, band), usual)
        if angle != 0:
            labels = _turned_labels(plot, band, angle, reader)
            if labels.texts:
                return labels, [t for t in below if t.y > band[3] - 1]
    row = [t for t in below if t.angle == 0]
    if not row:
        return Labels([], []), below
    first = _first_row(row)
    missed = _missed(plot, [t for t in row if abs(t.y - first.y) < 0.5 * first.height], box, reader)
    row += missed
    below = below + missed
    line = [t for t in row if abs(t.y - first.y) < 0.6 * first.height]
    under = [t for t in row if t not in line and 0 < t.y - first.y < 1.7 * first.height]
    line = join_lines(line, 0.45)
    wrapped = join_wrapped(line + join_lines(under, 0.45))
    # A second line belongs to labels only if no label stands alone below: that is the axis title.
    if len(wrapped) == len(line) and len(under) > 1:
        line, used = wrapped, under
    else:
        used = []
    chosen = [t for t in row if abs(t.y - first.y) < 0.6 * first.height]
    line = _by_marks(plot, line, reader)
    line.sort(key=lambda t: t.x)
    places = [_center(gap, t, 0) for t in line]
    rest = [t for t in below if all(t is not c for c in chosen + used)]
    return Labels(line, places), rest


def _by_marks(plot: Plot, line: list[Text], reader: Reader) -> list[Text]:
    """Splits labels that several tick marks point to: the OCR took them for one."""
    marks = np.array(sorted(plot.bottom_marks))
    if len(marks) < 3:
        return line
    spacing = float(np.median(np.diff(marks)))
    found: list[Text] = []
    for text in line:
        inside = marks[(marks > text.box[0] - 2) & (marks < text.box[2] + 2)]
        if len(inside) < 2 or spacing < 8:
            found.append(text)
            continue
        words = text.text.split()
        for index, mark in enumerate(inside):
            box = np.array([mark - spacing / 2, text.box[1], mark + spacing / 2, text.box[3]])
            if len(words) == len(inside):
                found.append(Text(words[index], box, text.confidence))
                continue
            left, top, right, bottom = box.round().astype(int)
            part = plot.rgb[max(0, top - 1) : bottom + 2, max(0, left) : right + 1]
            word, confidence = reader.line(np.ascontiguousarray(part))
            if word.strip() and confidence > 0.5:
                found.append(Text(word.strip(), box, confidence))
    return found


def _first_row(row: list[Text]) -> Text:
    """The topmost text of the row that most texts stand in; of equals the upper."""

    def beside(text: Text) -> int:
        return sum(abs(other.y - text.y) < 0.5 * text.height for other in row)

    fullest = max(beside(text) for text in row)
    return min((text for text in row if beside(text) == fullest), key=lambda t: t.box[1])


def _missed(plot: Plot, row: list[Text], box: np.ndarray, reader: Reader) -> list[Text]:
    """Labels of an upright row that the OCR passed over."""
    top = int(min(t.box[1] for t in row)) - 1
    bottom = int(max(t.box[3] for t in row)) + 2
    left, right = max(0, int(box[0]) - 30), min(plot.width, int(box[2]) + 30)
    top = max(top, int(box[3]) + 7)
    if bottom - top < 6:
        return []
    part = plot.rgb[top:bottom, left:right]
    items = [{"box": list(t.box - [left, top, left, top])} for t in row]
    found = missed_words(part, items, reader, np.array(to_rgb(plot.page)))
    shift = np.array([left, top, left, top], float)
    return [Text(i["text"], np.array(i["box"]) + shift, i["confidence"]) for i in found]


def _band(gap: np.ndarray, box: np.ndarray, usual: float) -> np.ndarray | None:
    """The strip of turned labels under the plot; None if the labels are one row of upright text."""
    left, _, right, bottom = box
    start = int(bottom) + 7
    low, high = max(0, int(left) - 60), min(gap.shape[1], int(right) + 20)
    if start + 12 >= gap.shape[0]:
        return None
    inked = (gap[start:, low:high] > 14).sum(1) > 0
    rows = np.flatnonzero(inked)
    if len(rows) == 0 or rows[0] > 30:
        return None
    end = rows[0]
    for row in rows[1:]:
        if row - end > 4:
            break
        end = row
    height = end - rows[0] + 1
    if height < 1.8 * usual:
        return None
    return np.array([low, start + rows[0] - 3, high, start + end + 3], float)


def _is_upright_row(below: list[Text], band: np.ndarray, usual: float) -> bool:
    """Whether labels were read well as upright text, with only a title close below."""
    row = [t for t in below if t.angle == 0 and t.box[1] < band[1] + 1.2 * usual]
    if len(row) < 2:
        return False
    low = [t.height < 2.1 * usual and t.confidence > 0.85 for t in row]
    return float(np.mean(low)) > 0.8 and sum(t.width > t.height for t in row) > 0.6 * len(row)


def _ink(gap: np.ndarray, band: np.ndarray) -> np.ndarray:
    left, top, right, bottom = band.astype(int)
    part = gap[max(0, top) : bottom, max(0, left) : right]
    return part > max(14.0, 0.35 * float(np.percentile(part, 99.5)))


def _turned_labels(plot: Plot, band, angle: int, reader: Reader) -> Labels:
    fill = to_rgb(plot.page)
    texts = read_turned(plot.rgb, band, angle, reader, fill)
    # Short words look alike turned the other way; what they say does not.
    if _certainty(texts) < (0.75 if angle == 90 else 0.93):
        other = read_turned(plot.rgb, band, -angle, reader, fill)
        if _certainty(other) > _certainty(texts):
            texts, angle = other, -angle
    texts = [t for t in texts if t.confidence > 0.4]
    near = [t for t in texts if t.anchor[1] < band[1] + 0.5 * (band[3] - band[1])]
    near.sort(key=lambda t: t.anchor[0])
    return Labels(near, [float(t.anchor[0]) for t in near], float(angle))


def _certainty(texts: list[Text]) -> float:
    letters = sum(len(t.text) for t in texts)
    return sum(len(t.text) * t.confidence for t in texts) / letters if letters else 0.0


def _left(texts: list[Text], left: float) -> Labels:
    """Labels at the left edge: those that end where most end, nearest to the plot."""
    if not texts:
        return Labels([], [])
    lines = join_lines(texts, 0.5)
    edge = max(t.box[2] for t in lines)
    chosen = [t for t in lines if t.box[2] > edge - 9]
    chosen = join_wrapped(chosen)
    chosen.sort(key=lambda t: t.y)
    return Labels(chosen, [t.y for t in chosen])


def _center(gap: np.ndarray, text: Text, along: int) -> float:
    box = tight_box(gap, text.box)
    return float(box[along] + box[along + 2]) / 2


def numeric_labels(axis: Axis) -> Labels:
    """The tick labels of a numeric axis as labels of rows."""
    pairs = sorted(zip(axis.scale.ticks, axis.labels), key=lambda pair: pair[0].position)
    return Labels([label for _, label in pairs], [tick.position for tick, _ in pairs])
