"""Follows the pixels of input pictures through Pillow's crops, resizes and flips.

An image with a known origin carries (input's name, a, c, e, f): the point (x, y) of the image, in
continuous coordinates where pixel i covers [i, i + 1), is the point (a*x + c, e*y + f) of the
input. Operations not listed here give images without one.
"""

import functools

from PIL import Image, ImageEnhance

ORIGIN = "_saccade_origin"


def of(image):
    return getattr(image, ORIGIN, None)


def mark(image, name):
    setattr(image, ORIGIN, (name, 1.0, 0.0, 1.0, 0.0))


def _set(image, origin):
    if origin is not None:
        setattr(image, ORIGIN, origin)
    elif ORIGIN in image.__dict__:
        delattr(image, ORIGIN)


def _mapped(origin, sx, tx, sy, ty):
    """The origin of an image whose (x, y) is (sx*x + tx, sy*y + ty) of the image with `origin`."""
    if origin is None:
        return None
    name, a, c, e, f = origin
    return (name, a * sx, a * tx + c, e * sy, e * ty + f)


def resized(origin, size, new_size):
    """The origin of an image after it was resized as a whole."""
    return _mapped(origin, size[0] / new_size[0], 0.0, size[1] / new_size[1], 0.0)


def install():
    """Patches Pillow once, in the fork server."""

    def wrap(cls, method, after):
        original = getattr(cls, method)

        @functools.wraps(original)
        def wrapped(self, *args, **kwargs):
            result = original(self, *args, **kwargs)
            after(self, result, *args, **kwargs)
            return result

        setattr(cls, method, wrapped)

    def same(self, result, *_, **__):
        if result is not self:
            _set(result, of(self))

    for method in ("copy", "convert", "filter", "point", "quantize", "getchannel"):
        wrap(Image.Image, method, same)

    def split(self, result):
        for channel in result:
            _set(channel, of(self))

    wrap(Image.Image, "split", split)
    wrap(ImageEnhance._Enhance, "enhance", lambda self, result, *_: _set(result, of(self.image)))

    def crop(self, result, box=None):
        # Rounded as Image._crop does.
        left, top = (0, 0) if box is None else (round(box[0]), round(box[1]))
        _set(result, _mapped(of(self), 1.0, left, 1.0, top))

    wrap(Image.Image, "crop", crop)

    def resize(self, result, size=None, resample=None, box=None, reducing_gap=None):
        left, top, right, bottom = (0, 0, *self.size) if box is None else box
        width, height = result.size
        scale_x, scale_y = (right - left) / width, (bottom - top) / height
        _set(result, _mapped(of(self), scale_x, left, scale_y, top))

    wrap(Image.Image, "resize", resize)

    def transpose(self, result, method):
        flip_x = method in (Image.Transpose.FLIP_LEFT_RIGHT, Image.Transpose.ROTATE_180)
        flip_y = method in (Image.Transpose.FLIP_TOP_BOTTOM, Image.Transpose.ROTATE_180)
        if not flip_x and not flip_y:
            _set(result, None)
            return
        width, height = self.size
        x = (-1.0, width) if flip_x else (1.0, 0.0)
        y = (-1.0, height) if flip_y else (1.0, 0.0)
        _set(result, _mapped(of(self), *x, *y))

    wrap(Image.Image, "transpose", transpose)

    original_thumbnail = Image.Image.thumbnail

    @functools.wraps(original_thumbnail)
    def thumbnail(self, *args, **kwargs):
        width, height = self.size
        original_thumbnail(self, *args, **kwargs)
        _set(self, _mapped(of(self), width / self.width, 0.0, height / self.height, 0.0))

    Image.Image.thumbnail = thumbnail

    # Foreign pixels came in: the picture is no longer a view of its input.
    for method in ("paste", "alpha_composite"):
        wrap(Image.Image, method, lambda self, *_, **__: _set(self, None))
