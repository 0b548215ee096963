"""Answers a question about a ledger: `run({"question"}, [page])` gives the answer as text, or None."""

import re

from operations.enlarged import tokens_of

# A row of a ledger, and parts of it that are read at once; pixels.
ROW, PART, OVERLAP = 46, 480, 60


def run(params, images):
    page, question = images[0], params["question"]
    words = words_of(page)
    amount = re.search(r"amount (\d+)\?", question)
    if amount:
        for number in (word for word in words if digits(word["text"]) == amount[1]):
            return item_beside(words, number), []
        return None, []
    found = [row_of(words, item) for item in re.findall(r"“(.+?)”", question)]
    if "remark" in question:
        return found[0][1], []
    numbers = [number for number, _ in found]
    if any(number is None for number in numbers):
        return None, []
    if len(numbers) == 1:
        return numbers[0], []
    one, other = (int(number) for number in numbers)
    return str(one + other if "together" in question else one - other), []


def words_of(page):
    height, width = page.shape[:2]
    words = []
    for top in range(0, height, PART):
        for left in range(0, width, PART * 2):
            right, bottom = min(width, left + PART * 2 + OVERLAP), min(height, top + PART + OVERLAP)
            for token in tokens_of(page[top:bottom, left:right], 1900, 0.2):
                x0, y0, x1, y1 = token["box"]
                box = [x0 + left, y0 + top, x1 + left, y1 + top]
                if not any(same_place(box, word["box"]) for word in words):
                    words.append({"text": token["text"], "box": box})
    return words


def same_place(a, b):
    wide = min(a[2], b[2]) - max(a[0], b[0])
    tall = min(a[3], b[3]) - max(a[1], b[1])
    return wide > 0.5 * min(a[2] - a[0], b[2] - b[0]) and tall > 0.5 * min(a[3] - a[1], b[3] - b[1])


def digits(text):
    swapped = text.translate(str.maketrans("OoIlZSsB/|", "0011255811"))
    return re.sub(r"\D", "", swapped)


def middle(word):
    return (word["box"][1] + word["box"][3]) / 2


def beside(words, word):
    """Words on the line of another, from left to right."""
    return sorted((other for other in words if abs(middle(other) - middle(word)) < ROW * 0.4), key=lambda w: w["box"][0])


def plain(text):
    return re.sub(r"[^a-z]", "", text.lower())


def row_of(words, item):
    """The amount and the remark of an item, or None for either."""
    for word in words:
        line = beside(words, word)
        for start in range(len(line)):
            for end in range(start + 1, min(len(line), start + 5) + 1):
                if plain("".join(part["text"] for part in line[start:end])) != plain(item):
                    continue
                after = line[end:]
                number = next((digits(part["text"]) for part in after if digits(part["text"])), None)
                rest = [part for part in after if len(plain(part["text"])) > 2]
                return number, (plain(rest[0]["text"]) if rest else None)
    return None, None


def item_beside(words, number):
    line = [word for word in beside(words, number) if word["box"][2] < number["box"][0] + 4]
    texts = []
    for word in reversed(line):
        if texts and texts[-1]["box"][0] - word["box"][2] > 60:
            break
        texts.append(word)
    return " ".join(word["text"] for word in reversed(texts)) or None
