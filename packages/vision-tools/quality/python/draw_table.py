"""Draws a table of words and numbers, with or without rules.

`run({"seed"}, [])` gives `{"title", "rows": [[text]]}` and the image.
"""

from operations import fonts
import numpy as np


def run(params, images):
    random = np.random.default_rng(params["seed"])
    columns, rows = int(random.integers(2, 5)), int(random.integers(3, 7))
    size = int(random.integers(16, 26))
    font = fonts.face(str(random.choice(fonts.FACES[:6])), size)
    names = [fonts.sentence(random, 1) for _ in range(columns)]
    body = [
        [fonts.sentence(random, 1), *(fonts.amount(random) for _ in range(columns - 1))]
        for _ in range(rows)
    ]
    widths = [
        int(max(font.getlength(row[index]) for row in [names, *body])) + 2 * size
        for index in range(columns)
    ]
    high = int(size * 1.9)
    image, draw = fonts.canvas(sum(widths) + 60, (rows + 1) * high + 60 + high, "white")
    title = fonts.sentence(random, 3)
    is_titled, is_ruled, is_right = (bool(random.integers(2)) for _ in range(3))
    top = 20
    if is_titled:
        fonts.drawn(draw, (30, top), title, font, "black")
        top += high
    for index, row in enumerate([names, *body]):
        left = 30
        for column, text in enumerate(row):
            space = widths[column] - size - font.getlength(text)
            at = left + (space if is_right and column > 0 else 0), top + index * high
            fonts.drawn(draw, at, text, font, "black")
            left += widths[column]
        if is_ruled:
            y = top + index * high - size * 0.3
            draw.line((25, y, left, y), fill=(90, 90, 90), width=1)
    table = {"title": title if is_titled else "", "rows": [names, *body]}
    return table, [np.asarray(image)]
