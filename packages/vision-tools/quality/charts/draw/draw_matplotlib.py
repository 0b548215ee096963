"""Draws the planned charts for matplotlib, and writes where their marks and texts are.

    python draw_matplotlib.py plan.json OUT

Needs matplotlib 3.10 and Pillow, which the sandbox's environment has.
"""

import json
import os
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

DPI = 100


def main(plan, out):
    os.makedirs(out, exist_ok=True)
    drawn = []
    with open(plan, encoding="utf-8") as file:
        charts = json.load(file)
    for chart in charts:
        if chart["library"] != "matplotlib":
            continue
        with plt.style.context(chart["style"]):
            figure, axes = plt.subplots(
                figsize=(chart["width"] / DPI, chart["height"] / DPI), dpi=DPI
            )
            if chart["rotation"] or chart["isHorizontal"] or chart["kind"] == "pie":
                figure.set_layout_engine("constrained")
            marks = DRAW[chart["kind"]](axes, chart)
            axes.set_title(chart["title"])
            legend = axes.get_legend()
            if chart["hasLegend"] and chart["kind"] != "pie":
                legend = axes.legend()
            save(figure, os.path.join(out, f"{chart['id']}.png"))
            parts = {"marks": mark_parts(marks, figure), "texts": text_parts(axes, legend, figure)}
            drawn.append({"id": chart["id"], **parts})
            plt.close(figure)
    with open(os.path.join(out, "parts-matplotlib.json"), "w", encoding="utf-8") as file:
        json.dump(drawn, file)


def save(figure, path):
    """As a PNG with a palette, which has a third of the bytes."""
    figure.savefig(path, dpi=DPI)
    with Image.open(path) as image:
        small = image.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    small.save(path, optimize=True)


def scatter(axes, chart):
    marks = []
    for series in chart["series"]:
        points = np.array(series["points"])
        axes.scatter(points[:, 0], points[:, 1], label=series["name"])
        marks += [("point", axes, point) for point in points]
    axes.set_xlabel(chart["xLabel"])
    axes.set_ylabel(chart["yLabel"])
    return marks


def pie(axes, chart):
    values = chart["series"][0]["values"]
    wedges = axes.pie(
        values,
        labels=None if chart["hasLegend"] else chart["labels"],
        autopct="%1.1f%%" if chart["hasValues"] else None,
        wedgeprops={"width": 0.45} if chart["isDonut"] else {},
        pctdistance=0.78 if chart["isDonut"] else 0.6,
        startangle=90,
        counterclock=False,
    )[0]
    if chart["hasLegend"]:
        axes.legend(wedges, chart["labels"], loc="center left", bbox_to_anchor=(1, 0.5))
    return []


def bars(axes, chart):
    labels, series = chart["labels"], chart["series"]
    places = np.arange(len(labels))
    count = len(series) if chart["kind"] == "grouped" else 1
    width = 0.8 / count
    base = np.zeros(len(labels))
    marks = []
    for index, one in enumerate(series):
        values = np.array(one["values"], float)
        shift = (index - (count - 1) / 2) * width if chart["kind"] == "grouped" else 0
        given = {"label": one["name"]}
        if chart["kind"] == "stacked":
            given["left" if chart["isHorizontal"] else "bottom"] = base.copy()
        draw = axes.barh if chart["isHorizontal"] else axes.bar
        drawn = draw(places + shift, values, width, **given)
        if chart["kind"] == "stacked":
            base += values
        if chart["hasValues"]:
            axes.bar_label(drawn, padding=2, fmt="%g")
        marks += [
            ("bar", patch, label, one["name"], value)
            for patch, label, value in zip(drawn, labels, one["values"])
        ]
    if chart["isHorizontal"]:
        axes.set_yticks(places, labels)
        axes.invert_yaxis()
    else:
        axes.set_xticks(places, labels)
    finish(axes, chart)
    return marks


def lines(axes, chart):
    labels = chart["labels"]
    places = [float(label) for label in labels] if chart["isNumeric"] else np.arange(len(labels))
    marks = [("line", axes, list(zip(places, one["values"]))) for one in chart["series"]]
    for one in chart["series"]:
        if chart["kind"] == "area":
            axes.fill_between(places, one["values"], alpha=0.7 if len(labels) % 2 else 1)
            axes.set_ylim(min(0, min(one["values"])))
        else:
            marker = "o" if chart["hasMarkers"] else None
            axes.plot(places, one["values"], marker=marker, label=one["name"])
    if not chart["isNumeric"]:
        axes.set_xticks(places, labels)
    finish(axes, chart)
    return marks


def finish(axes, chart):
    is_lying = chart["isHorizontal"]
    if chart["isLog"]:
        (axes.set_xscale if is_lying else axes.set_yscale)("log")
    (axes.set_ylabel if is_lying else axes.set_xlabel)(chart["xLabel"])
    (axes.set_xlabel if is_lying else axes.set_ylabel)(chart["yLabel"])
    if chart["rotation"] and not is_lying:
        for text in axes.get_xticklabels():
            text.set_rotation(chart["rotation"])
            text.set_ha("right" if chart["rotation"] < 80 else "center")
    if chart["hasGrid"]:
        axes.grid(True)


DRAW = {
    "scatter": scatter,
    "pie": pie,
    **dict.fromkeys(["bar", "horizontal", "grouped", "stacked"], bars),
    **dict.fromkeys(["line", "lines", "area"], lines),
}


def box_of(extent, figure):
    """[left, top, right, bottom] in pixels of the image, from matplotlib's that counts upwards."""
    height = figure.bbox.height
    sides = [extent.x0, height - extent.y1, extent.x1, height - extent.y0]
    return [round(float(side), 1) for side in sides]


def mark_parts(marks, figure):
    found = []
    for kind, *rest in marks:
        if kind == "bar":
            patch, label, series, value = rest
            box = box_of(patch.get_window_extent(), figure)
            found.append(
                {"kind": kind, "label": label, "series": series, "value": value, "box": box}
            )
        else:
            axes, places = rest
            shown = axes.transData.transform(np.atleast_2d(places))
            points = [[round(float(x), 1), round(figure.bbox.height - float(y), 1)] for x, y in shown]
            place = {"points": points} if kind == "line" else {"at": points[0]}
            found.append({"kind": kind, **place})
    return found


def text_parts(axes, legend, figure):
    texts = [
        (axes.title, "title"),
        (axes.xaxis.label, "axis_title"),
        (axes.yaxis.label, "axis_title"),
    ]
    for axis, limits in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        low, high = sorted(limits)
        shown = zip(axis.get_majorticklocs(), axis.get_majorticklabels())
        texts += [(label, "tick") for place, label in shown if low <= place <= high]
    texts += [(text, "legend") for text in legend.get_texts()] if legend is not None else []
    found = []
    for text, role in texts:
        words = text.get_text()
        if (
            not words
            or not text.get_visible()
            or not axes.axison
            and role in ("tick", "axis_title")
        ):
            continue
        box = box_of(text.get_window_extent(), figure)
        inside = box[0] > -1 and box[1] > -1 and box[2] < figure.bbox.width + 1
        if inside and box[3] < figure.bbox.height + 1:
            found.append({"text": words, "role": role, "box": box})
    return found


if __name__ == "__main__":
    main(*sys.argv[1:])
