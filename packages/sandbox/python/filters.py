"""The conditions for keeping images and the style of figures, where a session asks for them."""

import io
import math

from PIL import Image

# As matplotlib pads a tight figure, in inches.
PADDING = 0.1


class Filters:
    """`images` and `figures` are the session's capture options of these names."""

    def __init__(self, images, figures):
        self.most = images.get("most")
        self.most_aspect = images.get("mostAspect")
        small = images.get("smallSides", {})
        self.small_side = small.get("below", 0)
        self.enlarged_side = small.get("enlargeTo")
        self.dpi = figures.get("dpi")
        self.is_tight = figures.get("isTight", False)
        self.least_figure_side = figures.get("leastSide", 0)

    @property
    def draws_figures(self):
        return self.dpi is not None or self.is_tight

    def drops(self, width, height):
        """Whether an image of this size is left out, without an error in the code that shows it."""
        short, long = min(width, height), max(width, height)
        if self.most_aspect is not None and long > self.most_aspect * short:
            return True
        return short < self.small_side and self.enlarged_side is None

    def drops_figure(self, width, height):
        return min(width, height) < self.least_figure_side

    def size_of(self, width, height):
        """The size that an image of this size is shown at."""
        short = min(width, height)
        if short == 0 or short >= self.small_side or self.enlarged_side is None:
            return width, height
        scale = self.enlarged_side / short
        return round(width * scale), round(height * scale)

    def draw(self, figure, canvas, check_size):
        """The figure as these options have it; `check_size` raises for what would be too large."""
        dpi = self.dpi or figure.dpi
        box = None
        width, height = figure.get_size_inches()
        if self.is_tight:
            canvas.draw()  # places what is in it
            box = figure.get_tightbbox(canvas.get_renderer()).padded(PADDING)
            width, height = box.size
        # Anything far outside the axes makes a tight figure arbitrarily large.
        check_size(math.ceil(width * dpi), math.ceil(height * dpi))
        drawn = io.BytesIO()
        options = {"format": "png", "dpi": dpi, "pil_kwargs": {"compress_level": 1}}
        figure.savefig(drawn, bbox_inches=box, **options)
        image = Image.open(drawn, formats=("PNG",))
        image.load()
        return image
