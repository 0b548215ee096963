"""Answers a question about pictograms and signs on a photograph.

`run({"question", "kinds": [{"name", "plural"}]}, [image, drawings, masks])` gives the answer as text,
or None. The drawings are squares beside each other, one of each kind; masks are white where they paint.
"""

import re

import numpy as np
from operations.read_sign import signs_of
from operations.template_search import search, templates_of


def run(params, images):
    image, drawings, masks = images
    question, kinds = params["question"], params["kinds"]
    only = re.search(r"the only ([a-z ]+?)[.?:]", question)
    if "What is written" in question:
        signs = signs_of(image)
        if only is None or len(signs) < 2:
            return (signs[0]["text"] if signs else None), []
        pivot = best_of(things(image, drawings, masks, kinds), only[1])
        return (None if pivot is None else min(signs, key=lambda sign: far(sign, pivot))["text"]), []
    found = things(image, drawings, masks, kinds)
    counted = re.search(r"How many ([a-z ]+?) are (?:to the )?(drawn|left of|right of|above|below)", question)
    if counted:
        name = next((kind["name"] for kind in kinds if kind["plural"] == counted[1]), None)
        some = [thing for thing in found if thing["name"] == name]
        if counted[2] == "drawn":
            return (str(len(some)) if some else None), []
        pivot = best_of(found, only[1])
        return (None if pivot is None else str(sum(is_on(counted[2], thing, pivot) for thing in some))), []
    pivot = best_of(found, only[1])
    others = [thing for thing in found if pivot is not None and thing["name"] != only[1]]
    return (min(others, key=lambda thing: far(thing, pivot))["name"] if others else None), []


def things(image, drawings, masks, kinds):
    return search(image, templates_of(kinds, drawings, masks))


def best_of(found, name):
    return min((thing for thing in found if thing["name"] == name), key=lambda thing: thing["error"], default=None)


def far(one, other):
    return float(np.hypot(one["x"] - other["x"], one["y"] - other["y"]))


def is_on(side, thing, pivot):
    return {
        "left of": thing["x"] < pivot["x"],
        "right of": thing["x"] > pivot["x"],
        "above": thing["y"] < pivot["y"],
        "below": thing["y"] > pivot["y"],
    }[side]
