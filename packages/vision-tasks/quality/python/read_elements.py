"""Reads numbers of elements off a part of the periodic table.

`run({"question", "elements": [{"name", "symbol", "number"}]}, [image])` gives the answer as text, or
None where a number is not read. Names, symbols and atomic numbers of elements are common knowledge,
masses and electronegativities come from the image.
"""

import re

from operations.enlarged import center, tokens_of

DECIMAL = re.compile(r"\d+[.,]\d\d")


def run(params, images):
    question = params["question"]
    tokens = tokens_of(images[0])
    known = {one["name"]: one for one in params["elements"]}
    listed = re.split(r", (?:or )?", question.split(":")[-1].split("?")[0].strip())

    def numbers(name):
        return numbers_of(known[name], tokens)

    single = re.search(r"What (.+) does the table give for (\w+)", question)
    bound = re.search(r"electronegativity above ([\d.]+)", question)
    ranked = re.search(r"has the (\w+) electronegativity", question)
    if single:
        read = numbers(single[2])
        return (None if read is None else f"{read[single[1] == 'electronegativity']:.2f}"), []
    if bound:
        read = [numbers(name) for name in known]
        above = sum(one is not None and one[1] > float(bound[1]) for one in read)
        return (str(above) if any(read) else None), []
    if ranked:
        read = {name: numbers(name) for name in listed}
        some = [(value[1], name) for name, value in read.items() if value is not None]
        best = (max if ranked[1] == "highest" else min)(some, default=None)
        return (None if best is None else known[best[1]]["symbol"]), []
    parts = [(int(count), numbers(name)) for count, name in re.findall(r"(\d+) atoms? of (\w+)", question)]
    if any(read is None for _, read in parts):
        return None, []
    return f"{sum(count * read[0] for count, read in parts):.2f}", []


def numbers_of(element, tokens):
    """Mass and electronegativity: the two decimals that are next below the element's symbol."""
    for token in tokens:
        is_symbol = token["text"].lower() == element["symbol"].lower()
        if not is_symbol and token["text"] != str(element["number"]):
            continue
        x, y = center(token["box"])
        high = token["box"][3] - token["box"][1]
        below = [
            other
            for other in tokens
            if DECIMAL.fullmatch(other["text"])
            and abs(center(other["box"])[0] - x) < 1.2 * high
            and 0.4 * high < center(other["box"])[1] - y < 7 * high
        ]
        below.sort(key=lambda other: center(other["box"])[1])
        if len(below) >= 2:
            mass, negativity = (float(other["text"].replace(",", ".")) for other in below[:2])
            # A mass is about two to three times the number; one of another row is not.
            if 1.8 * element["number"] < mass < 2.8 * element["number"] and negativity < 4.1:
                return mass, negativity
    return None
