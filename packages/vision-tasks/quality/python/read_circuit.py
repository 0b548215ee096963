"""Reads the resistors of a circuit and computes with them.

`run({"question"}, [image])` gives the answer as text, or None where no resistor is read. Resistors
whose labels are above each other are in parallel; these groups are in series.
"""

import re

from operations.enlarged import lines_of, part_of

LABEL = re.compile(r"R\s*(\d+)\s*[=:-]\s*(\d+)", re.IGNORECASE)
# Labels of a group are nearer to each other than this share of the image's width.
BESIDE = 0.04


def run(params, images):
    question = params["question"]
    resistors = resistors_of(images[0])
    asked = re.search(r"resistance of R(\d+)", question)
    if asked:
        ohms = [each["ohms"] for each in resistors if each["number"] == int(asked[1])]
        return (str(ohms[0]) if ohms else None), []
    total = sum(1 / sum(1 / each["ohms"] for each in group) for group in groups_of(resistors, images[0].shape[1]))
    if total == 0:
        return None, []
    battery = re.search(r"battery of ([\d.]+) V", question)
    return f"{1000 * float(battery[1]) / total if battery else total:.1f}", []


def resistors_of(image):
    found = []
    for line in lines_of(image):
        for match in LABEL.finditer(line["text"]):
            left, _, right, _ = part_of(line, *match.span())["box"]
            if int(match[2]) > 0:
                found.append({"number": int(match[1]), "ohms": int(match[2]), "x": (left + right) / 2})
    return found


def groups_of(resistors, width):
    groups = []
    for each in sorted(resistors, key=lambda each: each["x"]):
        if groups and each["x"] - groups[-1][-1]["x"] < BESIDE * width:
            groups[-1].append(each)
        else:
            groups.append([each])
    return groups
