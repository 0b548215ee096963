"""Answers a question about a map in colors of classes: its texts are read, its regions found by color.

`run({"question"}, [image])` gives the answer as text, or None where a name or the legend is not read.
"""

import difflib
import re

import numpy as np
from operations.enlarged import lines_of, part_of
from operations.map_regions import regions_of

NUMBER = r"(-?\d+(?:\.\d+)?)"
CLASS = re.compile(rf"under\s*{NUMBER}|{NUMBER}\s*to\s*{NUMBER}|{NUMBER}\s*or\s*more|no\s*data", re.IGNORECASE)


def run(params, images):
    image, question = images[0], params["question"]
    lines = lines_of(image)
    legend = legend_of(image, lines)
    if len(legend) < 3:
        return None, []
    names = [line for line in lines if line["box"][2] < legend[0]["left"] or not CLASS.search(line["text"])]
    regions = regions_of(image, legend, [line["box"] for line in names])
    return Map(names, legend, regions).answer(question), []


def legend_of(image, lines):
    """Classes from the lowest to the highest: text and color, and where the swatches begin."""
    page = most_common(image.reshape(-1, 3))
    entries = []
    for line in lines:
        match = CLASS.search(line["text"])
        if match is None or line["box"][0] < image.shape[1] / 2:
            continue
        left, top, right, bottom = part_of(line, *match.span())["box"]
        height = bottom - top
        beside = image[int((top + bottom) / 2), max(0, int(left - 1.9 * height)) : max(1, int(left - 0.2 * height))]
        colors = [color for color in beside if np.abs(color.astype(int) - page).max() > 3]
        if colors:
            text = spaced(match)
            entries.append({"text": text, "color": most_common(np.array(colors)), "y": top, "left": left - 2 * height})
    entries.sort(key=lambda entry: -entry["y"])
    lefts = [entry["left"] for entry in entries]
    return [{**entry, "left": min(lefts)} for entry in entries]


def spaced(match):
    under, first, last, least = match.groups()
    if under:
        return f"under {under}"
    if least:
        return f"{least} or more"
    return f"{first} to {last}" if first else "no data"


def most_common(colors):
    some, counts = np.unique(colors, axis=0, return_counts=True)
    return some[counts.argmax()].astype(int)


def bare(text):
    return re.sub(r"[^a-z0-9]", "", text.lower())


class Map:
    """Names, classes and regions of a map that was read."""

    def __init__(self, names, legend, regions):
        self.names = names
        self.classes = [entry["text"] for entry in legend]
        self.regions = regions
        self.missing = self.classes.index("no data") if "no data" in self.classes else -1

    def answer(self, question):
        for pattern, answer in (
            (r"legend is (.+?)\? Answer", self.class_of),
            (r"has the highest .+?: (.+)\?", self.highest),
            (r'in the class "(.+?)" or a higher one', lambda text: self.count(text, True)),
            (r'in the class "(.+?)"', lambda text: self.count(text, False)),
            (r"share a border with (.+?) are in a higher", self.higher_neighbors),
            (r"share a border with (.+?), which", self.highest_neighbor),
        ):
            found = re.search(pattern, question)
            if found:
                return answer(found[1])
        return None

    def place_of(self, name):
        """The middle of the text that is nearest to a name; None where none is near."""
        wanted = bare(name)
        for line in self.names:
            if bare(line["text"]) == wanted:
                return middle(line["box"])
        for line in self.names:
            # Names that stand beside each other can be read as one line.
            at = line["text"].lower().find(name.lower())
            if at >= 0 and len(name) > 3:
                return middle(part_of(line, at, at + len(name))["box"])
        likely = max(self.names, key=lambda line: likeness(bare(line["text"]), wanted), default=None)
        if likely is None or likeness(bare(likely["text"]), wanted) < 0.75:
            return None
        return middle(likely["box"])

    def region_of(self, name):
        place = self.place_of(name.strip())
        return None if place is None else self.regions.at(*place)

    def rank_of(self, name):
        region = self.region_of(name)
        return None if region is None else self.regions.classes[region]

    def class_of(self, name):
        rank = self.rank_of(name)
        return None if rank is None else self.classes[rank]

    def highest(self, listed):
        names = re.split(r", (?:or )?", listed)
        ranked = [(self.rank_of(name), name) for name in names]
        known = [(rank, name) for rank, name in ranked if rank is not None and rank != self.missing]
        return max(known, key=lambda one: one[0])[1] if known else None

    def count(self, text, is_above):
        if text not in self.classes:
            return None
        bound = self.classes.index(text)
        named = {self.regions.at(*middle(line["box"])) for line in self.names}
        classes = self.regions.classes
        # What touches no other region and has no name is an island of one.
        ranks = [rank for one, rank in classes.items() if one in named or self.regions.neighbors(one)]
        ranks = [rank for rank in ranks if rank != self.missing]
        return str(sum(rank >= bound if is_above else rank == bound for rank in ranks))

    def neighbors(self, name):
        region = self.region_of(name)
        return (None, []) if region is None else (region, sorted(self.regions.neighbors(region)))

    def higher_neighbors(self, name):
        region, around = self.neighbors(name)
        if region is None:
            return None
        classes = self.regions.classes
        return str(sum(classes[one] > classes[region] for one in around))

    def highest_neighbor(self, name):
        _, around = self.neighbors(name)
        if not around:
            return None
        best = max(around, key=lambda one: self.regions.classes[one])
        inside = [line["text"] for line in self.names if self.regions.at(*middle(line["box"])) == best]
        return inside[0] if inside else None


def middle(box):
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2


def likeness(one, other):
    return difflib.SequenceMatcher(None, one, other).ratio()
