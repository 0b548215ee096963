"""A chart as it was read: its parts as they were found, and its table."""

from dataclasses import dataclass, field

import numpy as np

from .axes import Axis
from .inks import Inks
from .labels import Words
from .legend import Legend
from .lines import Course
from .pies import Pie
from .plot import Plot
from .points import Cloud
from .texts import Text


class Unreadable(Exception):
    """Why a chart of a kind that was recognized cannot be read, in one sentence."""


@dataclass
class Cell:
    """A value, how sure it is from 0 to 1, and the box of its mark in pixels."""

    value: float
    confidence: float
    box: list[float]


@dataclass
class Series:
    """A series: its name, where that comes from, and the color of its marks."""

    name: str
    named_by: str
    color: np.ndarray | None
    legend: np.ndarray | None = None


@dataclass
class Table:
    """Rows by columns; a cell is None where no mark was found."""

    kind: str
    rows: list[str]
    series: list[Series]
    cells: list[list[Cell | None]]
    is_horizontal: bool = False
    is_stacked: bool = False
    # Scatter plots only: for every series its points [x, y, confidence].
    points: list[list[tuple[float, float, float]]] = field(default_factory=list)
    # Where each row's label is, for the scene graph.
    labels: list[Text | None] = field(default_factory=list)


@dataclass
class Chart:
    """Everything that was found. `problems` are what keeps it from being read, in words."""

    plot: Plot
    words: Words
    inks: Inks
    legend: Legend | None
    y_axis: Axis | None
    x_axis: Axis | None
    table: Table | None
    problems: list[str]
    # The marks that the table was read from, where they are not rectangles.
    pie: Pie | None = None
    courses: list[Course] = field(default_factory=list)
    clouds: list[Cloud] = field(default_factory=list)
