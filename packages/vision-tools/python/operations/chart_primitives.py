"""Primitives of a chart: `run({"most": 200}, [image])` gives what `charts.primitives` describes."""

from charts.primitives import primitives


def run(params, images):
    return primitives(images[0], params.get("most", 200)), []
