"""Counts things of the kinds that a question names: `run({"question", "kinds"}, [image, drawings, masks])`."""

import re

from operations.template_search import search, templates_of


def run(params, images):
    image, drawings, masks = images
    named = re.search(r"How many (.+?) are there", params["question"])[1].split(" and ")
    wanted = {kind["name"] for kind in params["kinds"] if kind["plural"] in named}
    found = search(image, templates_of(params["kinds"], drawings, masks))
    count = sum(thing["name"] in wanted for thing in found)
    return (str(count) if count else None), []
