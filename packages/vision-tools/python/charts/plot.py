"""The plot of a chart: its panel, its rectangle between the axes, its gridlines and tick marks."""

from dataclasses import dataclass, field

import cv2
import numpy as np

from .colors import chroma, distance, page_color, to_lab
from .rules import Rule, horizontal_rules, neutral, tick_marks, vertical_rules
from .texts import Text


@dataclass(eq=False)
class Plot:
    """Where marks can be. `box` is [left, top, right, bottom], None without any axes."""

    rgb: np.ndarray
    lab: np.ndarray
    page: np.ndarray
    panel: np.ndarray | None
    box: np.ndarray | None
    rows: list[Rule] = field(default_factory=list)
    columns: list[Rule] = field(default_factory=list)
    # Tick marks: pixels along the bottom and along the left edge.
    bottom_marks: list[float] = field(default_factory=list)
    left_marks: list[float] = field(default_factory=list)

    @property
    def backgrounds(self) -> list[np.ndarray]:
        return [self.page] if self.panel is None else [self.page, self.panel]

    @property
    def height(self) -> int:
        return self.lab.shape[0]

    @property
    def width(self) -> int:
        return self.lab.shape[1]

    def gap(self) -> np.ndarray:
        """[H, W] Lab distance of every pixel to the nearest background."""
        gaps = [distance(self.lab, color) for color in self.backgrounds]
        return np.minimum.reduce(gaps)


def find_plot(rgb: np.ndarray, texts: list[Text]) -> Plot:
    """The plot of a chart in an [H, W, 3] uint8 RGB image."""
    lab = to_lab(rgb)
    page = page_color(lab)
    panel, panel_box = _panel(lab, page)
    blocked = np.zeros(lab.shape[:2], bool)
    for text in texts:
        left, top, right, bottom = text.box.astype(int)
        blocked[max(0, top) : bottom + 1, max(0, left) : right + 1] = True
    ground = page if panel is None else panel
    rows = [r for r in neutral(horizontal_rules(lab, blocked)) if distance(r.color, ground) > 2.5]
    columns = [c for c in neutral(vertical_rules(lab, blocked)) if distance(c.color, ground) > 2.5]
    plot = Plot(rgb, lab, page, panel, None)
    if panel_box is not None and _is_part(panel_box, rows, columns):
        panel = panel_box = None
        plot.panel = None
    box = _box(rows, columns, panel_box)
    if box is None:
        return plot
    plot.box = box
    left, top, right, bottom = box
    plot.rows = [r for r in rows if _overlaps(r, left, right) and top - 6 <= r.at <= bottom + 6]
    plot.columns = [
        r for r in columns if _overlaps(r, top, bottom) and left - 6 <= r.at <= right + 6
    ]
    _find_marks(plot)
    return plot


def _overlaps(rule: Rule, start: float, end: float) -> bool:
    shared = min(rule.end, end) - max(rule.start, start)
    return shared > 0.3 * (end - start)


def _panel(lab: np.ndarray, page: np.ndarray) -> tuple[np.ndarray | None, np.ndarray | None]:
    """A filled rectangle behind the marks, of another color than the page."""
    height, width = lab.shape[:2]
    for ink in _frequent(lab, int(0.1 * height * width)):
        if distance(ink, page) < 1.5:
            continue
        mask = (distance(lab, ink) < 1.5).astype(np.uint8)
        # Gridlines cut a panel into cells.
        mask = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8))
        # The blurred edges of letters have its color too.
        mask = cv2.morphologyEx(mask, cv2.MORPH_OPEN, np.ones((9, 9), np.uint8))
        count, _, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=4)
        if count < 2:
            continue
        left, top, w, h, _ = stats[1 + stats[1:, cv2.CC_STAT_AREA].argmax()]
        if w < 0.35 * width or h < 0.4 * height or chroma(ink) > 20:
            continue
        part = mask[top : top + h, left : left + w]
        by_row, by_column = part.mean(1), part.mean(0)
        sides = [by_row[:6].max(), by_row[-6:].max(), by_column[:6].max(), by_column[-6:].max()]
        if min(sides) >= 0.12 and np.mean(sides) >= 0.5:
            return np.float32(ink), _with_marks(lab, page, np.array([left, top, left + w, top + h]))
    return None, None


def _with_marks(lab: np.ndarray, page: np.ndarray, box: np.ndarray) -> np.ndarray:
    """A panel's box with the marks that cover its edges; without tick marks, which are thin."""
    filled = (distance(lab, page) > 1.5).astype(np.uint8)
    # Gridlines are closed, but letters are not: labels must not grow onto the panel.
    filled = cv2.morphologyEx(filled, cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8))
    # Larger than tick marks and lines of text.
    side = max(25, int(0.1 * (box[3] - box[1])))
    filled = cv2.morphologyEx(filled, cv2.MORPH_OPEN, np.ones((side, side), np.uint8))
    count, parts, stats, _ = cv2.connectedComponentsWithStats(filled, connectivity=4)
    left, top, right, bottom = box
    inside = parts[top:bottom, left:right]
    owner = int(np.bincount(inside[inside > 0], minlength=1).argmax()) if (inside > 0).any() else 0
    if count < 2 or owner == 0:
        return box.astype(float)
    x, y, w, h, _ = stats[owner]
    low, high = np.minimum(box[:2], [x, y]), np.maximum(box[2:], [x + w, y + h])
    return np.concatenate([low, high]).astype(float)


def _is_part(panel: np.ndarray, rows: list[Rule], columns: list[Rule]) -> bool:
    """Whether rules run well beyond a panel on opposite sides: then it is a mark, such as a bar."""
    across = sum(r.start < panel[0] - 12 and r.end > panel[2] - 3 for r in rows)
    across += sum(r.end > panel[2] + 12 and r.start < panel[0] + 3 for r in rows)
    along = sum(c.start < panel[1] - 12 or c.end > panel[3] + 12 for c in columns)
    return across >= 2 or along >= 2


def _frequent(lab: np.ndarray, least: int) -> list[np.ndarray]:
    """The most frequent colors of an image, each within one unit of Lab, most frequent first."""
    flat = lab[::2, ::2].reshape(-1, 3)
    cells = np.round(flat).astype(np.int64) + 256
    keys = (cells[:, 0] << 20) | (cells[:, 1] << 10) | cells[:, 2]
    values, counts = np.unique(keys, return_counts=True)
    order = [k for k in np.argsort(-counts)[:12] if counts[k] * 4 >= least]
    return [flat[keys == values[k]].mean(0) for k in order]


def _box(rows: list[Rule], columns: list[Rule], panel_box) -> np.ndarray | None:
    if panel_box is not None:
        return panel_box
    across = _common_extent(rows)
    along = _common_extent(columns)
    if across is None and along is None:
        return None
    if across is None:
        across = (min(c.at for c in columns), max(c.at for c in columns))
    if along is None:
        along = (min(r.at for r in rows), max(r.at for r in rows))
    left, right = across
    top, bottom = along
    left, right = _ends(left, right, [rule.at for rule in columns])
    top, bottom = _ends(top, bottom, [rule.at for rule in rows])
    if right - left < 30 or bottom - top < 20:
        return None
    return np.array([left, top, right, bottom], float)


def _ends(low: float, high: float, places: list[float]) -> tuple[float, float]:
    """Moves the ends of a span to the outermost rules across it: gridlines may begin at ticks."""
    first = [place for place in places if low - 12 <= place <= low + 8]
    last = [place for place in places if high - 8 <= place <= high + 12]
    return min(first, default=low), max(last, default=high)


def _common_extent(rules: list[Rule]) -> tuple[float, float] | None:
    """Where the long ones among rules start and end."""
    if not rules:
        return None
    longest = max(rule.length for rule in rules)
    long = [rule for rule in rules if rule.length > 0.6 * longest]
    # Marks hide ends of rules, so that the furthest ends count.
    return min(rule.start for rule in long), max(rule.end for rule in long)


def _find_marks(plot: Plot) -> None:
    left, top, right, bottom = plot.box
    gap = distance(plot.lab, plot.page)
    # A frame in the page's color may lie between a panel and the marks.
    space = 0 if plot.panel is None else 2
    lowest = [r for r in plot.rows if abs(r.at - bottom) < 5]
    edge = int(max([bottom, *(r.at + r.thickness / 2 - 0.5 for r in lowest)]))
    plot.bottom_marks = tick_marks(gap, edge, int(left), int(right), 1, space)
    first = [c for c in plot.columns if abs(c.at - left) < 5]
    edge = int(min([left, *(c.at - c.thickness / 2 + 0.5 for c in first)]))
    turned = np.ascontiguousarray(gap.T)
    plot.left_marks = tick_marks(turned, edge, int(top), int(bottom), -1, space)
