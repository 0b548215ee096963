"""Follows the pixels of input images through Pillow's crops, resizes, flips and turns.

An image with a known origin carries (input's name, a, b, c, d, e, f): the point (x, y) of the image,
in continuous coordinates where pixel i covers [i, i + 1), is the point (a*x + b*y + c, d*x + e*y + f)
of the input. Operations not listed here give images without one.
"""

import functools
import math

from PIL import Image, ImageEnhance

ORIGIN = "_saccade_origin"


def of(image):
    return getattr(image, ORIGIN, None)


def mark(image, name):
    setattr(image, ORIGIN, (name, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0))


def _set(image, origin):
    if origin is not None:
        setattr(image, ORIGIN, origin)
    elif ORIGIN in image.__dict__:
        delattr(image, ORIGIN)


def _after(origin, a, b, c, d, e, f):
    """The origin of an image whose (x, y) is (a*x + b*y + c, d*x + e*y + f) of one with `origin`."""
    if origin is None:
        return None
    name, *outer = origin
    p, q, r, s, t, u = outer
    return (
        name,
        p * a + q * d,
        p * b + q * e,
        p * c + q * f + r,
        s * a + t * d,
        s * b + t * e,
        s * c + t * f + u,
    )


def _mapped(origin, sx, tx, sy, ty):
    """The origin of an image whose (x, y) is (sx*x + tx, sy*y + ty) of the image with `origin`."""
    return _after(origin, sx, 0.0, tx, 0.0, sy, ty)


def resized(origin, size, new_size):
    """The origin of an image after it was resized as a whole."""
    return _mapped(origin, size[0] / new_size[0], 0.0, size[1] / new_size[1], 0.0)


def _transposed(method, width, height):
    """Takes a point after a transpose back to before it, for an image of width x height before."""
    ways = Image.Transpose
    return {
        ways.FLIP_LEFT_RIGHT: (-1.0, 0.0, width, 0.0, 1.0, 0.0),
        ways.FLIP_TOP_BOTTOM: (1.0, 0.0, 0.0, 0.0, -1.0, height),
        ways.ROTATE_90: (0.0, -1.0, width, 1.0, 0.0, 0.0),
        ways.ROTATE_180: (-1.0, 0.0, width, 0.0, -1.0, height),
        ways.ROTATE_270: (0.0, 1.0, 0.0, -1.0, 0.0, height),
        ways.TRANSPOSE: (0.0, 1.0, 0.0, 1.0, 0.0, 0.0),
        ways.TRANSVERSE: (0.0, -1.0, width, -1.0, 0.0, height),
    }.get(method)


def _rotated(size, angle, new_size, center, translate):
    """Takes a point after Image.rotate back to before it; the matrix is Pillow's own."""
    width, height = size
    new_width, new_height = new_size
    # The center of a turn without one given; an enlarged canvas keeps it in its middle.
    center_x, center_y = (width / 2, height / 2) if center is None else center
    shift_x, shift_y = (0, 0) if translate is None else translate
    radians = -math.radians(angle % 360.0)
    cos, sin = round(math.cos(radians), 15), round(math.sin(radians), 15)
    x, y = -center_x - shift_x, -center_y - shift_y
    c, f = cos * x + sin * y + center_x, -sin * x + cos * y + center_y
    if new_size != size:
        # As Pillow does for `expand`: the grown canvas is centered on the old one.
        x, y = -(new_width - width) / 2.0, -(new_height - height) / 2.0
        c, f = cos * x + sin * y + c, -sin * x + cos * y + f
    return (cos, sin, c, -sin, cos, f)


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
        back = _transposed(method, *self.size)
        _set(result, None if back is None else _after(of(self), *back))

    wrap(Image.Image, "transpose", transpose)

    original_rotate = Image.Image.rotate

    @functools.wraps(original_rotate)
    def rotate(
        self,
        angle,
        resample=Image.Resampling.NEAREST,
        expand=0,
        center=None,
        translate=None,
        fillcolor=None,
    ):
        # Pillow turns by quarters through transpose and copy, which are followed by themselves.
        result = original_rotate(self, angle, resample, expand, center, translate, fillcolor)
        if of(result) is None:
            _set(result, _after(of(self), *_rotated(self.size, angle, result.size, center, translate)))
        return result

    Image.Image.rotate = rotate

    original_thumbnail = Image.Image.thumbnail

    @functools.wraps(original_thumbnail)
    def thumbnail(self, *args, **kwargs):
        width, height = self.size
        original_thumbnail(self, *args, **kwargs)
        _set(self, _mapped(of(self), width / self.width, 0.0, height / self.height, 0.0))

    Image.Image.thumbnail = thumbnail

    # Foreign pixels came in: the image is no longer a view of its input.
    for method in ("paste", "alpha_composite"):
        wrap(Image.Image, method, lambda self, *_, **__: _set(self, None))
