"""The value of code's last expression: images are shown, everything else is printed."""

import ast
import sys

import numpy
from PIL import Image

ROWS = 64


def compile_apart(tree, name):
    """
    The code in two pieces where its last statement is an expression, else in one. The second hands
    its value to `sys.displayhook`, as the prompt of Python does: from the code's own frame, so that
    errors of showing have its line.
    """
    body = tree.body
    if not body or not isinstance(body[-1], ast.Expr):
        return (compile(tree, name, "exec", dont_inherit=True),)
    before = ast.Module(body[:-1], tree.type_ignores)
    return (
        compile(before, name, "exec", dont_inherit=True),
        compile(ast.Interactive([body[-1]]), name, "single", dont_inherit=True),
    )


def image_of(value, channels, check_size):
    """An array as an image; None where it has no image's shape, size or kind of numbers.

    Floats are 0 to 1. `channels` is the order of three of them: RGB, or BGR as OpenCV has it.
    """
    if not isinstance(value, numpy.ndarray) or value.dtype.kind not in "buif":
        return None
    if value.ndim not in (2, 3) or value.size < 2:
        return None
    if value.ndim == 3 and value.shape[2] not in (1, 3, 4):
        return None
    try:
        check_size(value.shape[1], value.shape[0])
    except ValueError:
        return None
    value = as_bytes(numpy.asarray(value))
    if value.ndim == 3 and value.shape[2] == 1:
        value = value[:, :, 0]
    elif value.ndim == 3 and channels == "BGR":
        value = value[:, :, (2, 1, 0, 3)[: value.shape[2]]]
    return Image.fromarray(numpy.ascontiguousarray(value))


def as_bytes(value):
    """8 bits for each number, in blocks of rows: a copy of a large array may not find room."""
    if value.dtype == numpy.uint8:
        return value
    result = numpy.empty(value.shape, numpy.uint8)
    for start in range(0, len(value), ROWS):
        block = value[start : start + ROWS]
        if value.dtype.kind == "b":
            block = block * numpy.uint8(255)
        elif value.dtype.kind == "f":
            block = (numpy.nan_to_num(block).clip(0, 1) * 255).round()
        else:
            block = block.clip(0, 255)
        result[start : start + ROWS] = block
    return result


def install(capture, channels):
    """From now on `sys.displayhook` shows values, and `display` shows arrays as images."""
    from matplotlib.figure import Figure

    def show(value):
        if value is None:
            return
        if isinstance(value, Image.Image):
            capture.add(value, "value")
        elif isinstance(value, Figure):
            capture.add_and_close(value, "value")
        elif (image := image_of(value, channels, capture.check_size)) is not None:
            capture.add(image, "value")
        else:
            print(value)

    sys.displayhook = show
    capture.image_of = lambda value: image_of(value, channels, capture.check_size)
