"""Words of a chart: what the OCR gave, with numbers parsed and fragments joined."""

import unicodedata
from dataclasses import dataclass, field

import numpy as np

from .numbers import Number, parse_number


@dataclass(eq=False)
class Text:
    """A piece of text with its box in pixels; `angle` is 90 if it runs upwards."""

    text: str
    box: np.ndarray
    confidence: float
    angle: float = 0.0
    # Where its reading ends: for labels that hang obliquely from a tick.
    anchor: tuple[float, float] | None = None
    role: str = ""
    number: Number | None = field(default=None)

    def __post_init__(self) -> None:
        self.box = np.asarray(self.box, np.float64)
        if self.number is None:
            self.number = parse_number(self.text)

    @property
    def width(self) -> float:
        return float(self.box[2] - self.box[0])

    @property
    def height(self) -> float:
        return float(self.box[3] - self.box[1])

    @property
    def x(self) -> float:
        return float(self.box[0] + self.box[2]) / 2

    @property
    def y(self) -> float:
        return float(self.box[1] + self.box[3]) / 2

    @property
    def size(self) -> float:
        """Height of its line of text."""
        return self.width if self.angle == 90 else self.height


def texts_of(items: list[dict]) -> list[Text]:
    """The pieces that the OCR read, without those that it is not sure of at all."""
    found = []
    for item in items:
        text = item["text"].strip()
        if text == "" or item["confidence"] < 0.2 or _is_phantom(text, item):
            continue
        left, top, right, bottom = item["box"]
        tall = bottom - top > 1.5 * (right - left) and len(text) > 1
        angle = 90 if tall else 0
        found.append(Text(text, np.array(item["box"]), float(item["confidence"]), angle))
    return found


def _is_phantom(text: str, item: dict) -> bool:
    """Whether the recognizer, which knows Chinese first, made a sign of no text."""
    wide = [letter for letter in text if unicodedata.east_asian_width(letter) == "W"]
    return bool(wide) and (len(text) <= 2 or item["confidence"] < 0.9)


def split_wide(rgb: np.ndarray, texts: list[Text]) -> list[Text]:
    """Splits lines at wide gaps: labels of an axis that the OCR took for one line.

    Numbers are split at 0.4 line heights, words at 0.75.

    rgb: [H, W, 3] uint8
    """
    found: list[Text] = []
    for text in texts:
        words = text.text.split()
        if text.angle != 0 or len(words) < 2:
            found.append(text)
            continue
        left, top, right, bottom = text.box.round().astype(int)
        part = rgb[max(0, top) : bottom, max(0, left) : right].astype(np.int16)
        if part.size == 0:
            found.append(text)
            continue
        ink = (np.abs(part - np.median(part, (0, 1))).max(-1) > 60).any(0)
        columns = np.flatnonzero(ink)
        numeric = all(parse_number(word) is not None for word in words)
        gaps = np.diff(columns)
        cuts = np.sort(np.argsort(-gaps, kind="stable")[: len(words) - 1])
        least = (0.4 if numeric else 0.75) * text.height
        if len(cuts) < len(words) - 1 or gaps[cuts].min() <= least:
            found.append(text)
            continue
        starts = [columns[0], *columns[cuts + 1]]
        ends = [*columns[cuts], columns[-1]]
        for word, start, end in zip(words, starts, ends):
            box = np.array([left + start, text.box[1], left + end + 1, text.box[3]], float)
            found.append(Text(word, box, text.confidence))
    return found


def join_upright(texts: list[Text]) -> list[Text]:
    """Joins pieces that run upwards in one column, and pieces of one line that nearly touch."""
    upright = sorted((t for t in texts if t.angle == 90), key=lambda t: -t.box[3])
    rest = [t for t in texts if t.angle != 90]
    joined: list[Text] = []
    for piece in upright:
        for whole in joined:
            same_column = abs(whole.x - piece.x) < 0.6 * max(whole.width, piece.width)
            gap = whole.box[1] - piece.box[3]
            if same_column and -0.5 * piece.width < gap < 1.2 * whole.width:
                whole.text = f"{whole.text} {piece.text}".replace("  ", " ")
                whole.box = _union(whole.box, piece.box)
                whole.confidence = min(whole.confidence, piece.confidence)
                whole.number = None
                break
        else:
            joined.append(Text(piece.text, piece.box.copy(), piece.confidence, 90))
    # A single letter at the end of an upright title is nearly square.
    left_over = []
    for piece in rest:
        for whole in joined:
            gap = whole.box[1] - piece.box[3]
            fits = abs(whole.x - piece.x) < 0.4 * whole.width and piece.width < 1.4 * whole.width
            if fits and len(piece.text) <= 2 and -0.3 * whole.width < gap < whole.width:
                whole.text = f"{whole.text} {piece.text}"
                whole.box = _union(whole.box, piece.box)
                break
        else:
            left_over.append(piece)
    return left_over + joined


def join_lines(texts: list[Text], closeness: float = 0.7) -> list[Text]:
    """Joins horizontal pieces of one line whose gap is below `closeness` line heights."""
    pieces = sorted(texts, key=lambda t: t.box[0])
    joined: list[Text] = []
    for piece in pieces:
        for whole in joined:
            level = abs(whole.y - piece.y) < 0.4 * min(whole.height, piece.height)
            alike = 0.6 < piece.height / max(1.0, whole.height) < 1.7
            gap = piece.box[0] - whole.box[2]
            both = whole.number is not None and piece.number is not None
            if (
                level
                and alike
                and not both
                and -0.5 * whole.height < gap < closeness * whole.height
            ):
                _absorb(whole, piece)
                break
        else:
            joined.append(_copy(piece))
    return joined


def join_wrapped(texts: list[Text]) -> list[Text]:
    """Joins lines of one label that stand right under each other."""
    joined: list[Text] = []
    for piece in sorted(texts, key=lambda t: t.y):
        for whole in joined:
            gap = piece.box[1] - whole.box[3]
            if abs(whole.x - piece.x) < 0.25 * piece.height + 2 and -3 < gap < 0.35 * piece.height:
                _absorb(whole, piece)
                break
        else:
            joined.append(_copy(piece))
    return joined


def _absorb(whole: Text, piece: Text) -> None:
    whole.text = f"{whole.text} {piece.text}"
    whole.box = _union(whole.box, piece.box)
    whole.confidence = min(whole.confidence, piece.confidence)
    whole.number = parse_number(whole.text)


def _copy(text: Text) -> Text:
    return Text(text.text, text.box.copy(), text.confidence, text.angle, text.anchor)


def _union(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.array([min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])])


def tight_box(gap: np.ndarray, box: np.ndarray, least: float = 18.0) -> np.ndarray:
    """The box of the ink inside a text's box, in pixels; the box itself if there is none.

    OCR boxes are padded unevenly; the center of the ink places a tick label to half a pixel.
    gap: [H, W] Lab distance to what is behind the text
    """
    height, width = gap.shape
    left, top = max(0, int(box[0])), max(0, int(box[1]))
    right, bottom = min(width, int(np.ceil(box[2])) + 1), min(height, int(np.ceil(box[3])) + 1)
    ink = gap[top:bottom, left:right]
    if ink.size == 0:
        return box
    strong = ink > max(least, 0.45 * float(ink.max()))
    rows, columns = np.flatnonzero(strong.any(1)), np.flatnonzero(strong.any(0))
    if len(rows) == 0:
        return box
    return np.array(
        [left + columns[0], top + rows[0], left + columns[-1] + 1.0, top + rows[-1] + 1.0]
    )
