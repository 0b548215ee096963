"""Text of an image that is enlarged before it is read, as tokens with boxes in pixels of the image.

`run({"side", "least"}, [image])` gives the tokens; other programs import `tokens_of`.
"""

import cv2
from operations.ocr import read_text


def run(params, images):
    return tokens_of(images[0], params.get("side", 1600), params.get("least", 0.3)), []


def lines_of(image, side=1600, least=0.3):
    """Lines of text with the middle of each symbol: [{"text", "box", "middles"}].

    side:  the longer side of what is read, in pixels; a larger image is read as it is
    least: the lowest confidence of a line
    """
    scale = max(1.0, side / max(image.shape[:2]))
    large = image if scale == 1.0 else cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC)
    lines = []
    for line in read_text(large, least):
        left, top, right, bottom = (edge / scale for edge in line["box"])
        middles = [left + place * (right - left) for place in line["places"]]
        lines.append({"text": line["text"], "box": [left, top, right, bottom], "middles": middles})
    return lines


def part_of(line, start, end):
    """The symbols from `start` up to `end` of a line as a line of their own."""
    middles = line["middles"][start:end]
    _, top, _, bottom = line["box"]
    # A symbol reaches about half a step to both sides of its middle.
    half = (line["box"][2] - line["box"][0]) / max(1, len(line["text"])) / 2
    box = [middles[0] - half, top, middles[-1] + half, bottom]
    return {"text": line["text"][start:end], "box": box, "middles": middles}


def tokens_of(image, side=1600, least=0.3):
    """Words without space in them; the same form as lines."""
    tokens = []
    for line in lines_of(image, side, least):
        at = 0
        for word in line["text"].split():
            start = line["text"].index(word, at)
            at = start + len(word)
            tokens.append(part_of(line, start, at))
    return tokens


def center(box):
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
