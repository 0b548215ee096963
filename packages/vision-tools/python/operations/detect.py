"""Finds things of COCO's 80 classes with NanoDet in OpenCV's dnn module.

`run({"classes": [0, 2] or null, "threshold": 0.35, "colors": false}, [image])` gives `{"objects":
[{"class", "score", "box", "colors"?}]}`, best first; other operations import `detect_objects`. Classes are indices into `COCO`. Boxes
are [l, t, r, b] in pixels of the image.

NanoDet: https://github.com/RangiLyu/nanodet, Apache-2.0; the decoding of its boxes follows Generalized
Focal Loss, https://arxiv.org/abs/2006.04388.
"""

import functools

import cv2
import numpy as np
from assets import asset
from operations.colors import color_shares

COCO = (
    "person,bicycle,car,motorcycle,airplane,bus,train,truck,boat,traffic light,fire hydrant,"
    "stop sign,parking meter,bench,bird,cat,dog,horse,sheep,cow,elephant,bear,zebra,giraffe,"
    "backpack,umbrella,handbag,tie,suitcase,frisbee,skis,snowboard,sports ball,kite,baseball bat,"
    "baseball glove,skateboard,surfboard,tennis racket,bottle,wine glass,cup,fork,knife,spoon,bowl,"
    "banana,apple,sandwich,orange,broccoli,carrot,hot dog,pizza,donut,cake,chair,couch,"
    "potted plant,bed,dining table,toilet,tv,laptop,mouse,remote,keyboard,cell phone,microwave,oven,"
    "toaster,sink,refrigerator,book,clock,vase,scissors,teddy bear,hair drier,toothbrush"
).split(",")

SIDE = 416
STRIDES = (8, 16, 32)
BINS = np.arange(11, dtype=np.float32)
# BGR, as in NanoDet's configuration for COCO.
MEAN = np.array([103.53, 116.28, 123.675], dtype=np.float32)
SPREAD = np.array([57.375, 57.12, 58.395], dtype=np.float32)
# An image is looked at twice: what fills it is found better where it is smaller.
LOOKS = (1.0, 0.65)
# Boxes of one class that overlap more are one object.
OVERLAP = 0.6
# A threshold near 0 lets everything through; the best of a look are enough then.
MAX_CANDIDATES = 300
MAX_OBJECTS = 100
# If two classes share a box, the worse one counts if it is almost as good.
SAME_BOX = 0.7
CLOSE_SCORE = 0.1
# Larger images are also searched in parts, where what is small has more pixels.
PART_FROM = 600
PART_SIDE = 400
MAX_PARTS_PER_SIDE = 4


@functools.cache
def network():
    return cv2.dnn.readNetFromONNX(asset("nanodet"))


@functools.cache
def centers(stride):
    """[N, 2] middles of the cells of one stride, in pixels of the net's input."""
    steps = (np.arange(SIDE // stride, dtype=np.float32) + 0.5) * stride
    return np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)


def warm():
    network()


def letterbox(image, share):
    """The image in the middle of a square of 416 pixels, its scale, and its left upper corner.

    share: of the square's side that the image's longer side takes
    """
    height, width = image.shape[:2]
    scale = SIDE * share / max(height, width)
    wide, high = max(1, round(width * scale)), max(1, round(height * scale))
    left, top = (SIDE - wide) // 2, (SIDE - high) // 2
    shrink = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    # Around it zero, which is the mean of the training images.
    square = np.zeros((SIDE, SIDE, 3), dtype=np.float32)
    pixels = cv2.resize(image, (wide, high), interpolation=shrink)[:, :, ::-1]
    square[top : top + high, left : left + wide] = (pixels - MEAN) / SPREAD
    return square, scale, (left, top)


def look(image, share, threshold):
    """Arrays of boxes [N, 4], scores [N] and classes [N], before overlaps are merged."""
    square, scale, corner = letterbox(image, share)
    net = network()
    net.setInput(np.ascontiguousarray(square.transpose(2, 0, 1)[None]))
    names = net.getUnconnectedOutLayersNames()
    outputs = dict(zip(names, net.forward(names)))
    boxes, scores, classes = [], [], []
    for stride in STRIDES:
        chances = outputs[f"class{stride}"][0]
        rows, columns = np.nonzero(chances > threshold)
        # Four distributions over 0..10 strides: to the left, top, right and bottom side.
        bins = outputs[f"side{stride}"][0][rows].reshape(-1, 4, 11)
        weights = np.exp(bins - bins.max(axis=2, keepdims=True))
        sides = (weights / weights.sum(axis=2, keepdims=True)) @ BINS * stride
        middle = centers(stride)[rows] - corner
        boxes.append(np.hstack([middle - sides[:, :2], middle + sides[:, 2:]]) / scale)
        scores.append(chances[rows, columns])
        classes.append(columns)
    height, width = image.shape[:2]
    found = np.concatenate(boxes).clip(0, [width, height, width, height])
    scores, classes = np.concatenate(scores), np.concatenate(classes)
    best = np.argsort(-scores, kind="stable")[:MAX_CANDIDATES]
    return found[best], scores[best], classes[best]


def parts(width, height):
    """Corners of overlapping squares that cover a large image: [l, t, r, b] each."""
    if max(width, height) < PART_FROM:
        return []
    side = max(PART_SIDE, -(-max(width, height) // (MAX_PARTS_PER_SIDE - 1)))

    def starts(length):
        if length <= side:
            return [(0, length)]
        count = min(MAX_PARTS_PER_SIDE, -(-(length - side) * 4 // (side * 3)) + 1)
        places = np.linspace(0, length - side, count).round().astype(int)
        return [(int(place), int(place) + side) for place in places]

    return [(x, y, right, low) for y, low in starts(height) for x, right in starts(width)]


def detect_objects(image, classes=None, threshold=0.35):
    """At most 100 objects, best first: a list of {class, score, box: [l, t, r, b]}.

    image:   [H, W, 3] uint8 RGB
    classes: indices into COCO; None for all
    """
    height, width = image.shape[:2]
    # Rivals of a class may be a little better than it.
    lowest = min(threshold, 0.3)
    looks = [look(image, share, lowest) for share in LOOKS]
    for left, top, right, bottom in parts(width, height):
        boxes, scores, kinds = look(image[top:bottom, left:right], 1.0, lowest)
        boxes = boxes + np.array([left, top, left, top], dtype=np.float32)
        # An object cut by a border inside the image is seen whole in a neighbor or the whole image.
        inner = np.array([left > 0, top > 0, right < width, bottom < height])
        near = np.abs(boxes - np.array([left, top, right, bottom])) < 4
        whole = ~(near & inner).any(axis=1)
        looks.append((boxes[whole], scores[whole], kinds[whole]))
    boxes, scores, kinds = (np.concatenate(some) for some in zip(*looks))
    kept = without_overlaps(boxes, scores, kinds)
    kept = [index for index in kept if not is_outdone(index, kept, boxes, scores, kinds, classes)]
    objects = [
        {
            "class": int(kinds[index]),
            "score": round(float(scores[index]), 3),
            "box": [round(float(side), 1) for side in boxes[index]],
        }
        for index in kept
        if scores[index] >= threshold and (classes is None or kinds[index] in classes)
    ]
    return objects[:MAX_OBJECTS]


def shared_area(box, others):
    low = np.maximum(others[:, :2], box[:2])
    high = np.minimum(others[:, 2:], box[2:])
    return np.prod(np.clip(high - low, 0, None), axis=1)


def area(boxes):
    return np.maximum(np.prod(boxes[..., 2:] - boxes[..., :2], axis=-1), 1e-6)


def without_overlaps(boxes, scores, kinds):
    """Indices of the best box of every cluster of a class, best first."""
    kept = []
    for index in np.argsort(-scores, kind="stable"):
        others = boxes[[one for one in kept if kinds[one] == kinds[index]]].reshape(-1, 4)
        shared = shared_area(boxes[index], others)
        union = area(others) + area(boxes[index]) - shared
        # A part of something seen whole counts as the same thing too.
        inside = shared / area(boxes[index])
        if not ((shared / union > OVERLAP) | (inside > 0.9)).any():
            kept.append(index)
    return kept


def is_outdone(index, kept, boxes, scores, kinds, classes):
    """Whether a box is clearly of another class; where all are asked for, whether it is at all."""
    margin = 0 if classes is None else CLOSE_SCORE
    rivals = [one for one in kept if kinds[one] != kinds[index]]
    rivals = [one for one in rivals if scores[one] > scores[index] + margin]
    others = boxes[rivals].reshape(-1, 4)
    shared = shared_area(boxes[index], others)
    union = area(others) + area(boxes[index]) - shared
    return bool((shared / union > SAME_BOX).any())


def run(params, images):
    classes, threshold = params.get("classes"), params.get("threshold", 0.35)
    objects = detect_objects(images[0], classes, threshold)
    if params.get("colors"):
        for one in objects:
            one["colors"] = color_shares(images[0], one["box"])
    return {"objects": objects}, []
