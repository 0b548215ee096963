"""Loads libraries, their patches and the sessions' globals before the fork server forks."""

import importlib
import os
import shutil
import sys

# Loaded here once instead of in every session; numpy loads its parts late (10 ms for random).
LIKELY = (
    *("numpy.random", "numpy.linalg", "numpy.fft", "numpy.ma", "numpy.lib.stride_tricks"),
    *(f"PIL.Image{part}" for part in ("Chops", "Draw", "Enhance", "Filter", "Font", "Ops", "Stat")),
    *("collections", "datetime", "fractions", "itertools", "json", "random", "re", "statistics"),
)


def preload(config):
    """Everything a session is likely to import, its globals, and the patches of the libraries."""
    # The font list is slow to make; the environment has one, but its place may be read-only.
    fonts, own = config["fontCache"], os.environ["MPLCONFIGDIR"]
    os.makedirs(own, exist_ok=True)
    if fonts is not None:
        for name in os.listdir(fonts):
            shutil.copy(os.path.join(fonts, name), own)
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    import numpy
    from PIL import Image

    for name in LIKELY:
        importlib.import_module(name)
    Image.init()
    import capture
    import provenance
    import video
    import worker

    # Draws once, so that sessions find fonts and tables loaded.
    plt.figure().add_subplot().set_title("x")
    plt.gcf().canvas.draw()
    plt.close("all")
    # Every fork would do this again: open fonts are not shared.
    matplotlib.font_manager._get_font.cache_clear()

    worker.set_image_limit(config["limits"]["openedPixels"])
    provenance.install()
    video.install()
    streams = sys.stdout, sys.stderr  # which the capture replaces
    kept = capture.Capture(config["limits"])
    template = {"__name__": "__main__"}
    template["display"] = capture.install(kept)
    exec(compile(config["prelude"], "<prelude>", "exec"), template)
    sys.stdout, sys.stderr = streams
    libraries = {"numpy": numpy.__version__, "matplotlib": matplotlib.__version__}
    libraries["pillow"] = Image.__version__
    return template, kept, libraries
