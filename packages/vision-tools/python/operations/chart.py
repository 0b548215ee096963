"""Reads a chart: its table, axes, texts and marks.

`run({}, [image])` gives what `charts.report` describes. A chart that cannot be read has no table,
and `problems` say why.
"""

import cv2
import numpy as np

from charts.read import read_chart
from charts.reader import Reader
from charts.report import report
from operations import ocr
from recent import Recent

# Details of a chart are lost in smaller images, and larger ones only take longer.
LARGEST = 2000
RECENT = Recent(16)


def warm():
    ocr.warm()


def run(params, images):
    return RECENT.get(images[0], read), []


def read(image):
    height, width = image.shape[:2]
    scale = min(1.0, LARGEST / max(height, width))
    if scale < 1:
        image = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    image = np.ascontiguousarray(image)
    reader = Reader(lambda part: ocr.read_text(part, 0.2), lambda line: ocr.recognize(line)[:2])
    found = report(read_chart(image, reader))
    return found if scale == 1 else enlarged(found, 1 / scale)


def enlarged(found, scale):
    """The report with lengths in pixels of the image as it was given."""
    for key in ("size", "plot"):
        if found[key] is not None:
            found[key] = [value * scale for value in found[key]]
    for axis in (found["xAxis"], found["yAxis"]):
        for tick in axis["ticks"] if axis is not None else []:
            tick["at"] *= scale
    for entry in [*found["texts"], *found["rules"], *found["marks"], *legend_parts(found)]:
        for key in ("box", "line", "circle", "swatch", "textBox"):
            if key in entry:
                entry[key] = [round(value * scale, 1) for value in entry[key]]
        if "points" in entry:
            entry["points"] = [[x * scale, y * scale] for x, y in entry["points"]]
        if "hole" in entry:
            entry["hole"] *= scale
    for row in found["table"]["cells"] if found["table"] is not None else []:
        for cell in row:
            if cell is not None:
                cell["box"] = [value * scale for value in cell["box"]]
    return found


def legend_parts(found):
    legend = found["legend"]
    return [] if legend is None else [legend, *legend["entries"]]
