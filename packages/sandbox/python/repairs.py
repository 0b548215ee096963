"""Forgiveness, where a protocol asks for it: small mistakes are put right, and each time is recorded.

Nothing here is on by default. A policy that is forgiven learns that it need not be careful, so the
outcome says what was changed and a reward can count it.
"""

import ast
import os
import textwrap

from PIL import Image

MOST_RECORDS = 20
MOST_TEXT = 200
IMAGE_ENDINGS = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif")


class Repairs:
    def __init__(self, wanted):
        self.wanted = wanted
        self.records = []

    def begin(self):
        self.records = []

    def record(self, kind, before, after, line=None):
        if len(self.records) >= MOST_RECORDS:
            return
        entry = {"kind": kind, "before": str(before)[:MOST_TEXT], "after": str(after)[:MOST_TEXT]}
        self.records.append(entry if line is None else {**entry, "line": line})

    def parse(self, code, name):
        """As `ast.parse`; with `indentation`, code that only its indentation breaks is read as meant."""
        try:
            tree = ast.parse(code, name)
        except SyntaxError as error:
            fixed = None
            if self.wanted.get("indentation") and isinstance(error, IndentationError):
                fixed = first_that_compiles(code, name)
            if fixed is None:
                raise
            self.record("indentation", code.splitlines()[0], fixed.splitlines()[0], error.lineno)
            tree = ast.parse(fixed, name)
        if self.wanted.get("imagePaths"):
            tree = ast.fix_missing_locations(Paths(self).visit(tree))
        return tree

    def install(self):
        """In the session's process: crops are clamped from now on, if that is wanted."""
        smallest = self.wanted.get("cropBoxes")
        if smallest is None:
            return
        repairs, crop = self, Image.Image.crop

        def clamped_crop(self, box=None):
            if box is not None:
                inside = clamp(box, self.size, smallest)
                if inside != tuple(box):
                    repairs.record("cropBox", tuple(box), inside)
                    box = inside
            return crop(self, box)

        Image.Image.crop = clamped_crop


def first_that_compiles(code, name):
    """The first way to indent the code that Python accepts, lines where they were; None without."""
    spaced = code.expandtabs(4)
    lines = spaced.split("\n")
    first = next((i for i, line in enumerate(lines) if line.strip()), 0)
    # The first line beside the rest: models often indent all lines but the one after the fence.
    aligned = [*lines[:first], lines[first].lstrip(), *lines[first + 1 :]]
    rest = textwrap.dedent("\n".join(lines[first + 1 :]))
    candidates = (
        textwrap.dedent(spaced),
        "\n".join(aligned),
        "\n".join([*lines[:first], lines[first].lstrip(), rest]),
    )
    for candidate in candidates:
        try:
            ast.parse(candidate, name)
        except SyntaxError:
            continue
        return candidate
    return None


class Paths(ast.NodeTransformer):
    """Paths of images that were made up mean the file of that name, or the only image there is."""

    def __init__(self, repairs):
        self.repairs = repairs
        self.images = [n for n in sorted(os.listdir()) if n.lower().endswith(IMAGE_ENDINGS)]

    def visit_JoinedStr(self, node):
        return node  # made when the code runs

    def visit_Constant(self, node):
        path = node.value
        if not isinstance(path, str) or not path.lower().endswith(IMAGE_ENDINGS):
            return node
        if "/" not in path or "\n" in path or os.path.exists(path):
            return node
        name = os.path.basename(path)
        if name not in self.images:
            if len(self.images) != 1:
                return node
            name = self.images[0]
        self.repairs.record("imagePath", path, name, node.lineno)
        return ast.copy_location(ast.Constant(name), node)


def clamp(box, size, smallest):
    """The part of the box inside the image; at least `smallest` on each side, where there is room."""
    left, top, right, bottom = box
    left, right = clamp_side(left, right, size[0], smallest)
    top, bottom = clamp_side(top, bottom, size[1], smallest)
    return (left, top, right, bottom)


def clamp_side(low, high, size, smallest):
    low, high = min(max(low, 0), size), min(max(high, 0), size)
    missing = min(max(smallest, 1), size) - (high - low)
    if missing > 0:
        low = max(0, min(low - missing // 2, size - min(max(smallest, 1), size)))
        high = low + min(max(smallest, 1), size)
    return low, high
