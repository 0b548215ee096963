"""Keeps what code prints and shows, up to the limits, and nothing more."""

import io
import sys

from PIL import Image, ImageShow

import provenance

# A result must fit a frame; the rest of the 64 MiB is for text.
MAX_IMAGE_BYTES = 48 * 1024 * 1024


class CappedOutput(io.BufferedIOBase):
    """Keeps the first `limit` bytes of what is written since `begin` and discards the others."""

    def __init__(self, limit):
        self.limit = limit
        self.begin()

    def begin(self):
        self.data = bytearray()
        self.is_truncated = False

    def writable(self):
        return True

    def write(self, chunk):
        size = len(chunk)
        room = self.limit - len(self.data)
        if size <= room:
            self.data += chunk
        else:
            self.data += chunk[:room]
            self.is_truncated = True
        return size

    def text(self):
        # A cut may split a character: its rest is dropped, other broken bytes are shown.
        errors = "ignore" if self.is_truncated else "replace"
        return self.data.decode("utf-8", errors)


class Capture:
    """The output and the images of the execution in progress."""

    def __init__(self, limits):
        self.limits = limits
        self.stdout = CappedOutput(limits["outputBytes"])
        self.stderr = CappedOutput(limits["outputBytes"])
        self.streams = {}
        # Options of a session beyond the limits: see `Extras`.
        self.filters = None
        self.image_of = lambda value: None
        self.begin()

    def begin(self):
        self.stdout.begin()
        self.stderr.begin()
        self.images = []
        self.blobs = []
        self.blob_bytes = 0
        self.lost_images = False
        for name, sink in (("stdout", self.stdout), ("stderr", self.stderr)):
            stream = self.streams.get(name)
            if stream is None or stream.closed or sink.closed:
                sink = CappedOutput(self.limits["outputBytes"])
                setattr(self, name, sink)
                stream = io.TextIOWrapper(sink, "utf-8", "backslashreplace", write_through=True)
                self.streams[name] = stream
            setattr(sys, name, stream)

    def truncated(self):
        names = [name for name in ("stdout", "stderr") if getattr(self, name).is_truncated]
        return names + ["images"] if self.lost_images else names

    def check_size(self, width, height):
        """Raises, in the code that shows the image, what it can do about it."""
        limit = self.limits["imagePixels"]
        if width < 1 or height < 1:
            raise ValueError(f"cannot show an empty image of {width}x{height} pixels")
        if width * height > limit:
            raise ValueError(
                f"cannot show an image of {width}x{height} pixels: the limit is {limit} pixels. "
                "Crop or resize it first."
            )
        aspect = self.limits["imageAspect"]
        if max(width, height) >= aspect * min(width, height):
            raise ValueError(
                f"cannot show an image of {width}x{height} pixels: one side must be less than "
                f"{aspect} times the other. Crop or pad it first."
            )

    def has_room_for(self, width, height):
        try:
            self.check_size(width, height)
        except ValueError:
            return False
        return True

    @property
    def is_full(self):
        most = self.limits["imageCount"]
        if self.filters is not None and self.filters.most is not None:
            most = min(most, self.filters.most)
        return len(self.images) >= most

    def add(self, image, source, file=None):
        """Whether the image was kept."""
        if self.filters is not None and self.filters.drops(*image.size):
            self.lost_images = True
            return False
        self.check_size(*image.size)
        if self.is_full:
            self.lost_images = True
            return False
        origin = provenance.of(image)
        image = as_rgb(image)
        if self.filters is not None:
            size = self.filters.size_of(*image.size)
            if size != image.size:
                if not self.has_room_for(*size):
                    self.lost_images = True
                    return False
                origin = provenance.resized(origin, image.size, size)
                image = image.resize(size, Image.Resampling.LANCZOS)
        buffer = io.BytesIO()
        # Level 1: half the time of the default, a few percent more bytes.
        image.save(buffer, "PNG", compress_level=1)
        png = buffer.getvalue()
        if self.blob_bytes + len(png) > MAX_IMAGE_BYTES:
            self.lost_images = True
            return False
        self.blob_bytes += len(png)
        self.blobs.append(png)
        entry = {"source": source}
        if file is not None:
            entry["file"] = file
        if origin is not None:
            entry["origin"] = {"image": origin[0], "map": origin[1:]}
        self.images.append(entry)
        return True

    def add_figure(self, figure, source="figure"):
        canvas = figure.canvas
        if not hasattr(canvas, "buffer_rgba"):  # a Figure made without pyplot
            from matplotlib.backends.backend_agg import FigureCanvasAgg

            canvas = FigureCanvasAgg(figure)
        width, height = canvas.get_width_height()
        filters = self.filters
        if filters is not None and filters.drops_figure(width, height):
            self.lost_images = True
            return
        self.check_size(width, height)
        if self.is_full:
            self.lost_images = True
            return
        if filters is not None and filters.draws_figures:
            self.add(filters.draw(figure, canvas, self.check_size), source)
            return
        canvas.draw()
        self.add(Image.frombuffer("RGBA", (width, height), canvas.buffer_rgba()), source)

    def add_and_close(self, figure, source="figure"):
        import matplotlib.pyplot as plt

        try:
            self.add_figure(figure, source)
        finally:
            plt.close(figure)


def as_rgb(image):
    """8-bit RGB; what is transparent becomes white, as qwen_vl_utils does for the model's input."""
    if image.mode == "RGB":
        return image
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info:
        image = image.convert("RGBA")
        background = Image.new("RGB", image.size, (255, 255, 255))
        background.paste(image, mask=image.getchannel("A"))
        return background
    return image.convert("RGB")


def install(capture):
    """Routes `plt.show`, `Figure.show`, `Image.show` and `display` to `capture`."""
    import matplotlib.figure
    import matplotlib.pyplot as plt
    from matplotlib._pylab_helpers import Gcf

    def show_image(self, title=None, **_):
        capture.add(self, "image")

    def show_figures(*_, **__):
        try:
            for manager in Gcf.get_all_fig_managers():
                capture.add_figure(manager.canvas.figure)
        finally:
            plt.close("all")

    def show_figure(self, warn=True):
        capture.add_and_close(self)

    def display(*things):
        for thing in things:
            if isinstance(thing, Image.Image):
                capture.add(thing, "image")
            elif isinstance(thing, matplotlib.figure.Figure):
                show_figure(thing)
            elif (image := capture.image_of(thing)) is not None:
                capture.add(image, "image")
            else:
                print(repr(thing))

    Image.Image.show = show_image
    ImageShow.show = lambda image, title=None, **_: show_image(image)
    plt.show = show_figures
    matplotlib.figure.Figure.show = show_figure
    return display
