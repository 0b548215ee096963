"""Answers a question about a page of small print by reading it in enlarged tiles.

`run({"question", "scale": 1.5}, [page])` gives the answer as text, or None where it is not found.
"""

import re

import cv2
from operations.ocr import read_text

TILE = 640
OVERLAP = 40
SCALE = 1.5


def run(params, images):
    question = params["question"]
    lines = rows_of(words_of(images[0], params.get("scale", SCALE)))
    for pattern, answer in ANSWERS:
        found = re.search(pattern, question)
        if found:
            return answer(lines, *found.groups()), []
    return None, []


def words_of(page, scale=SCALE):
    """Texts with boxes in pixels of the page, each once."""
    height, width = page.shape[:2]
    words = []
    for top, bottom in tiles(height):
        for left, right in columns(page, top, bottom, width):
            tile = cv2.resize(page[top:bottom, left:right], None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC)
            for line in read_text(tile, 0.3):
                box = [side / scale + (left, top)[index % 2] for index, side in enumerate(line["box"])]
                middle = (box[1] + box[3]) / 2
                # The middle of an overlap is where one tile's lines end and the next one's begin.
                if top + (top > 0) * OVERLAP / 2 <= middle < bottom - (bottom < height) * OVERLAP / 2:
                    words.append({"text": line["text"], "box": box})
    return words


def tiles(length):
    starts = range(0, max(1, length - OVERLAP), TILE - OVERLAP)
    return [(start, min(length, start + TILE)) for start in starts]


def columns(page, top, bottom, width):
    """The page, or its two halves where a blank gutter divides its middle."""
    part = page[top:bottom, int(width * 0.4) : int(width * 0.6)].mean(axis=2)
    blank = (part.max(axis=0) - part.min(axis=0)) < 40
    runs = [match.span() for match in re.finditer("1{10,}", "".join("1" if one else "0" for one in blank))]
    if width < 900 or not runs:
        return [(0, width)]
    start, end = max(runs, key=lambda run: run[1] - run[0])
    middle = int(width * 0.4) + (start + end) // 2
    return [(0, middle), (middle, width)]


def rows_of(words):
    """Lines of words from top to bottom; a line is what stands beside each other."""
    rows = []
    for word in sorted(words, key=lambda word: (word["box"][1] + word["box"][3]) / 2):
        middle = (word["box"][1] + word["box"][3]) / 2
        height = word["box"][3] - word["box"][1]
        if rows and abs(rows[-1]["middle"] - middle) < height * 0.4:
            rows[-1]["words"].append(word)
        else:
            rows.append({"middle": middle, "words": [word]})
    for row in rows:
        row["words"].sort(key=lambda word: word["box"][0])
    return rows


def texts(rows):
    return [word["text"] for row in rows for word in row["words"]]


def bare(word):
    return re.sub(r"^[^A-Za-z0-9]+|[^A-Za-z0-9]+$", "", word)


def same(a, b):
    return re.sub(r"\W", "", a).lower() == re.sub(r"\W", "", b).lower()


def line_end(rows, quoted):
    for text in texts(rows):
        if text.lower().startswith(quoted.lower()):
            return bare(text.split()[-1])
    return None


def next_word(rows, quoted):
    for text in texts(rows):
        at = text.lower().find(quoted.lower())
        rest = text[at + len(quoted) :].split() if at >= 0 else []
        if rest:
            return bare(rest[0])
    return None


def count(rows, word):
    # Words can be read without the space between them; none has the word as a part of it.
    found = sum(text.lower().count(word) for text in texts(rows))
    return str(found) if found else None


def table_with(rows, *, column, row=None, value=None):
    """The cell under a column's head and beside a row's name, or the name beside a value."""
    heads = []
    for line in rows:
        for word in line["words"]:
            heads += [word] if same(word["text"], column) else []
        first, *cells = line["words"]
        for head in heads:
            center = (head["box"][0] + head["box"][2]) / 2
            for cell in cells:
                if not cell["box"][0] - 6 <= center <= cell["box"][2] + 6:
                    continue
                if row is not None and same(first["text"], row):
                    return cell["text"]
                if value is not None and cell["text"] == value:
                    return first["text"]
    return None


def below_caption(rows, measure):
    """The lines of the table whose caption begins with a measure."""
    starts = [index for index, row in enumerate(rows) if row["words"][0]["text"].startswith("Table")]
    for start, end in zip(starts, starts[1:] + [len(rows)]):
        caption = "".join(word["text"] for word in rows[start]["words"])
        if same(measure, "") or re.sub(r"\W", "", measure).lower() in re.sub(r"\W", "", caption).lower():
            return rows[start + 1 : end]
    return rows


def cell(rows, measure, row, column):
    return table_with(below_caption(rows, measure), column=column, row=row)


def row_name(rows, measure, value, column):
    return table_with(below_caption(rows, measure), column=column, value=value)


def forms_of(rows):
    """Each form as {label: value}: fields of a column of the page, from one number to the next."""
    words = [word for row in rows for word in row["words"]]
    labels = sorted({round(word["box"][0] / 40) for word in words if same(word["text"], "Country")})
    forms = []
    for index, left in enumerate(labels):
        right = labels[index + 1] * 40 - 20 if index + 1 < len(labels) else 10_000
        for row in rows:
            inside = [word for word in row["words"] if left * 40 - 30 <= word["box"][0] < right]
            if not inside:
                continue
            if re.sub(r"\W", "", inside[0]["text"]).lower().startswith("formno"):
                forms.append({})
            if forms:
                label, value = (inside[0]["text"], inside[-1]["text"]) if len(inside) > 1 else (inside[0]["text"], "")
                forms[-1][re.sub(r"\W", "", label).lower()] = value
    return forms


def field(rows, label, country):
    key = re.sub(r"\W", "", label).lower()
    for form in forms_of(rows):
        if same(form.get("country", ""), country):
            return form.get(key)
    return None


def owner(rows, number):
    for form in forms_of(rows):
        if form.get("formno") == number:
            return form.get("country")
    return None


ANSWERS = (
    (r"line that begins with “(.+?)”", line_end),
    (r"word follows “(.+?)”", next_word),
    (r"the word “(.+?)” occur", count),
    (r"what is the (.+) (?:in|of) (?:the )?(.+?) in (\d{4})\?", cell),
    (r"has an? (.+) of ([\d.]+) .* in (\d{4}), according", row_name),
    (r"field “(.+?)” of the form for (?:the )?(.+)\?", field),
    (r"form with the number (\d+)", owner),
)
