"""Names of series: by the legend, else by the axis or by color, and it says which."""

import numpy as np

from .chart import Chart, Series
from .colors import Ink, chroma, color_name


def series_of(chart: Chart, inks: list[int]) -> list[Series]:
    """One series for each ink."""
    names = legend_names(chart)
    alone = len(inks) == 1
    found = []
    for ink in inks:
        color = chart.inks.colors[ink].lab
        if ink in names:
            name, box = names[ink]
            found.append(Series(name, "legend", color, box))
        elif alone and chart.words.y_title is not None:
            found.append(Series(chart.words.y_title.text, "axis", color))
        elif alone and chart.words.title is not None:
            found.append(Series(chart.words.title.text, "title", color))
        else:
            found.append(Series(color_name(color), "color", color))
    seen: dict[str, int] = {}
    for one in found:
        seen[one.name] = seen.get(one.name, 0) + 1
        if seen[one.name] > 1:
            one.name = f"{one.name} {seen[one.name]}"
    return found


def legend_names(chart: Chart) -> dict[int, tuple[str, np.ndarray]]:
    """The name and the swatch's box by ink."""
    if chart.legend is None:
        return {}
    return {entry.ink: (entry.name, entry.swatch) for entry in chart.legend.entries}


def _is_residue(ink: Ink, largest: Ink) -> bool:
    """Whether an ink is what rules and edges leave over beside a much larger one."""
    gray = chroma(ink.lab) < 10 and chroma(largest.lab) > 15
    return ink.count < (0.12 if gray else 0.015) * largest.count


def mark_inks(chart: Chart) -> list[int]:
    """Inks that can be series: those of the legend in its order, then others that could be in it.

    An entry of the legend may not have been read. What is no series is as faint, or gray while the
    series are not.
    """
    inks = chart.inks.colors
    if chart.legend is None:
        return [k for k, ink in enumerate(inks) if not _is_residue(ink, inks[0])]
    entries = list(dict.fromkeys(entry.ink for entry in chart.legend.entries))
    least = 0.3 * min(inks[k].count for k in entries)
    colored = min(chroma(inks[k].lab) for k in entries) > 15
    others = [
        k
        for k, ink in enumerate(inks)
        if k not in entries and ink.count > least and (chroma(ink.lab) > 15 or not colored)
    ]
    return entries + others
