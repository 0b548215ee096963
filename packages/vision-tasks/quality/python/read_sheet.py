"""Answers a question about the small print of a sheet that is turned: `run({"question"}, [sheet])`."""

import re

import cv2
import numpy as np
from declined import Declined
from operations.ocr import read_text
from operations.orientation import UNDO, orientation

# Side of the overview that shows the masthead, and how much blocks are enlarged.
OVERVIEW, SCALE = 1200, 3
# Blocks of print: pixels of ink that are at most so far apart belong together; pixels of the sheet.
JOINED, SMALLEST, LARGEST = 41, 30, 560
MARGIN = 12


def run(params, images):
    sheet = upright(images[0])
    paragraphs = [paragraph for block in blocks_of(sheet) for paragraph in paragraphs_of(block)]
    return answer(params["question"], paragraphs), []


def upright(sheet):
    scale = OVERVIEW / max(sheet.shape[:2])
    small = cv2.resize(sheet, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    try:
        pose, _, _ = orientation(small)
    except Declined:
        return sheet
    return np.ascontiguousarray(UNDO[pose](sheet))


def blocks_of(sheet):
    """Parts of the sheet with small print."""
    gray = cv2.cvtColor(sheet, cv2.COLOR_RGB2GRAY)
    paper = int(np.median(gray[::16, ::16]))
    half = cv2.resize((np.abs(gray.astype(np.int16) - paper) > 60).astype(np.uint8), None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    joined = cv2.dilate(half, np.ones((JOINED // 2, JOINED // 2), np.uint8))
    count, _, stats, _ = cv2.connectedComponentsWithStats(joined)
    for left, top, wide, tall, area in stats[1:count].tolist():
        left, top, right, bottom = 2 * left, 2 * top, 2 * (left + wide), 2 * (top + tall)
        if right - left < SMALLEST or max(right - left, bottom - top) > LARGEST:
            continue
        yield np.ascontiguousarray(sheet[max(0, top - MARGIN) : bottom + MARGIN, max(0, left - MARGIN) : right + MARGIN])


def paragraphs_of(block):
    """Lists of lines; a paragraph ends where the next line is farther away."""
    large = cv2.resize(block, None, fx=SCALE, fy=SCALE, interpolation=cv2.INTER_CUBIC)
    lines = sorted(read_text(large, 0.3), key=lambda line: line["box"][1])
    rows = []
    for line in lines:
        middle = (line["box"][1] + line["box"][3]) / 2 / SCALE
        if rows and abs(rows[-1]["middle"] - middle) < 5:
            rows[-1]["parts"].append(line)
        else:
            rows.append({"middle": middle, "parts": [line]})
    paragraphs, last = [], None
    for row in rows:
        text = " ".join(part["text"] for part in sorted(row["parts"], key=lambda part: part["box"][0]))
        if last is None or row["middle"] - last > 16:
            paragraphs.append([])
        paragraphs[-1].append(text)
        last = row["middle"]
    return paragraphs


def plain(text):
    return re.sub(r"[^a-z0-9]", "", text.lower())


def answer(question, paragraphs):
    quoted = re.findall(r"“(.+?)”", question)
    lines = [line for paragraph in paragraphs for line in paragraph]
    if question.startswith("Which word"):
        for line in lines:
            at = line.lower().find(quoted[0].lower())
            rest = re.findall(r"[A-Za-z]+", line[at + len(quoted[0]) :]) if at >= 0 else []
            if rest:
                return rest[0]
        return None
    name = plain(quoted[-1])
    if "line beginning" in question:
        texts = [line for line in lines if plain(line).startswith(name)]
    elif "paragraph ending" in question:
        texts = [" ".join(paragraph) for paragraph in paragraphs if plain("".join(paragraph)).endswith(name)]
    else:
        texts = [" ".join(paragraph) for paragraph in paragraphs if plain("".join(paragraph)).startswith(name)]
    if not texts:
        return None
    if question.startswith("What does"):
        return texts[0]
    if question.startswith("How many"):
        return str(texts[0].lower().count(quoted[0]))
    measure = re.search(r"Which (.+) does the paragraph", question)[1]
    value = re.search(re.sub(r"\s+", r"\\s*", measure) + r"\D{0,3}(\d+[.,]\d)", texts[0], re.IGNORECASE)
    return value[1].replace(",", ".") if value else None
