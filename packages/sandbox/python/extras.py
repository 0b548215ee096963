"""The extras that a session returns besides what its code shows, if asked for (`CaptureOptions`)."""

import values
from filters import Filters
from image_files import ImageFiles


class Extras:
    """`wanted` are the session's capture options; without any, nothing is done."""

    def __init__(self, wanted, capture, root):
        self.shows_last = wanted.get("lastExpression", False)
        self.files = None
        if self.shows_last:
            values.install(capture, wanted.get("arrayChannels", "RGB"))
        if wanted.get("printedFiles") or wanted.get("savedFiles"):
            self.files = ImageFiles(wanted, capture, root)
            self.files.install()
        if "images" in wanted or "figures" in wanted:
            capture.filters = Filters(wanted.get("images", {}), wanted.get("figures", {}))

    def know(self, image):
        """An input of the session, before any code runs."""
        if self.files is not None:
            self.files.know(image)

    def begin(self):
        if self.files is not None:
            self.files.begin()

    def compile(self, tree, name):
        """The code in pieces that are run one after the other."""
        if self.shows_last:
            return values.compile_apart(tree, name)
        return (compile(tree, name, "exec", dont_inherit=True),)

    def collect(self):
        """After code that ran to its end."""
        if self.files is not None:
            self.files.collect()
