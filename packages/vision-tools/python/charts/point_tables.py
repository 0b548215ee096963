"""The table of a scatter plot: x and y of every point by series."""

import numpy as np

from .chart import Chart, Table, Unreadable
from .points import find_cloud
from .series import mark_inks, series_of


def point_table(chart: Chart, hidden: np.ndarray) -> Table | None:
    """The points of a scatter plot; None if most of the ink is not in small blobs of one size."""
    labels, region = chart.inks.labels, chart.inks.region
    inks = mark_inks(chart)
    clouds = [c for ink in inks if (c := find_cloud(labels, ink, region, hidden)) is not None]
    if not clouds or sum(len(c.centers) for c in clouds) < 4:
        return None
    left, top, right, bottom = (int(v) for v in region)
    free = ~hidden[top:bottom, left:right]
    inked = int((np.isin(labels[top:bottom, left:right], inks) & free).sum())
    held = sum(len(c.centers) * np.pi * c.radius**2 for c in clouds)
    if held < 0.55 * inked:
        return None
    if chart.y_axis is None or chart.x_axis is None:
        raise Unreadable("There are points, but not both axes have numbers to scale them by.")
    x_scale, y_scale = chart.x_axis.scale, chart.y_axis.scale
    sure = min(x_scale.confidence, y_scale.confidence)
    points = [
        [
            (x_scale.value(x), y_scale.value(y), round(float(c) * sure, 3))
            for (x, y), c in zip(cloud.centers, cloud.certainty)
        ]
        for cloud in clouds
    ]
    table = Table("scatter", [], series_of(chart, [c.ink for c in clouds]), [])
    table.points = points
    chart.clouds = clouds
    return table
