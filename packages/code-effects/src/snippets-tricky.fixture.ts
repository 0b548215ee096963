/** Code that does not do what a look at its text suggests, and code that fails. */
export const trickySnippets: string = String.raw`
### code in a string
plan = "image_clue_0.crop((0, 0, 10, 10)).rotate(90)"
print(plan)
=>
### code in a docstring
"""
image_clue_0.crop((0, 0, 100, 100))
"""
x = 1
=>
### code in comments
# image_clue_0.crop((0, 0, 100, 100)).show()
# image_clue_0.rotate(90)
=>
### code in an f-string's text
print(f"cropping with image_clue_0.crop((0,0,{5},5))")
=>
### a call inside of an f-string
print(f"size: {image_clue_0.crop((0, 0, 30, 30)).size}")
=> crop 0 0 30 30
### crop behind False
if False:
    image_clue_0.crop((0, 0, 10, 10))
image_clue_0.crop((20, 20, 40, 40))
=> crop 20 20 40 40
### crop behind a flag that is off
DEBUG = 0
if DEBUG:
    image_clue_0.rotate(90)
=>
### crop after return
def f():
    return 1
    image_clue_0.crop((0, 0, 10, 10))
f()
=>
### crop after exit
print('done')
exit()
image_clue_0.crop((0, 0, 10, 10))
=>
### loop that never runs
for i in range(0):
    image_clue_0.crop((0, 0, 10, 10))
while False:
    image_clue_0.rotate(180)
=>
### short circuit
False and image_clue_0.crop((0, 0, 10, 10))
True or image_clue_0.rotate(90)
1 and image_clue_0.rotate(180)
=> rotate_180
### a method that is named but not called
f = image_clue_0.crop
g = image_clue_0.rotate
=>
### a method called by its name
f = image_clue_0.crop
f((10, 10, 60, 60)).show()
=> crop 10 10 60 60
### someone else's crop
class Box:
    def crop(self, b):
        return b
Box().crop((0, 0, 10, 10))
=>
### a list's index is no slice of an image
data = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
print(data[0:2], data[1][0:1])
=>
### numbers in an array are no image
m = np.array([[1, 2], [3, 4]])
print(m[0:1, 0:1], np.rot90(m))
=>
### one row of pixels is no crop
a = np.array(image_clue_0)
print(a[10], a[10, 20], a[5, 6, 0])
=>
### a mask is no crop
a = np.array(image_clue_0)
print(a[a > 100].size)
=>
### blank images
canvas = Image.new('RGB', (100, 100))
canvas.crop((0, 0, 50, 50))
z = np.zeros((50, 50, 3), dtype=np.uint8)
=> crop
### a name bound to something else
image = image_clue_0
image = "photo"
image_clue_0.crop((0, 0, len(image) * 10, 50)).show()
=> crop 0 0 50 50
### the box is changed before use
box = (0, 0, 10, 10)
box = (box[0] + 100, box[1] + 100, box[2] + 200, box[3] + 200)
image_clue_0.crop(box).show()
=> crop 100 100 210 210
### a shadowed crop
def crop(im, box):
    return im.rotate(180)
crop(image_clue_0, (0, 0, 10, 10)).show()
=> rotate_180
### an input bound anew
image_clue_0 = image_clue_0.crop((100, 100, 300, 300))
image_clue_0.crop((0, 0, 100, 100)).show()
=> crop 100 100 300 300; crop 100 100 200 200
### a syntax error does nothing
part = image_clue_0.crop((0, 0, 10, 10)
part.show()
=>
### wrong indentation does nothing
x = 1
   image_clue_0.rotate(90)
=>
### a name that is not defined
image_clue_0.crop((0, 0, 50, 50))
missing.crop((0, 0, 10, 10))
image_clue_0.rotate(90)
=> crop 0 0 50 50
### the names of an earlier turn that failed
a = image_clue_0.crop((0, 0, 100, 100))
b = undefined_thing + 1
c = image_clue_0.rotate(90)
---
a.crop((10, 10, 20, 20)).show()
=> crop 0 0 100 100; crop 10 10 20 20
### swapped sides are refused
image_clue_0.crop((100, 100, 50, 150))
image_clue_0.rotate(90)
=> crop 100 100 50 150 !
### swapped sides are caught
try:
    image_clue_0.crop((100, 100, 50, 150)).show()
except ValueError as e:
    print(e)
    image_clue_0.crop((50, 100, 100, 150)).show()
=> crop 100 100 50 150 !; crop 50 100 100 150
### swapped sides of an array give nothing
a = np.array(image_clue_0)
b = a[100:50, 10:60]
=> crop 10 100 60 100
### division by zero stops
n = 0
image_clue_0.rotate(180)
x = 5 / n
image_clue_0.crop((0, 0, 10, 10))
=> rotate_180
### raise stops
image_clue_0.crop((0, 0, 40, 40))
raise RuntimeError('no')
image_clue_0.crop((0, 0, 10, 10))
=> crop 0 0 40 40
### except branch is not taken
try:
    part = image_clue_0.crop((0, 0, 80, 80))
except Exception:
    part = image_clue_0.rotate(90)
finally:
    part.crop((10, 10, 20, 20)).show()
=> crop 0 0 80 80; crop 10 10 20 20
### else of try
try:
    v = int('12')
except ValueError:
    v = 0
else:
    image_clue_0.crop((v, v, v + 10, v + 10))
=> crop 12 12 22 22
### index out of range is caught
sizes = [1, 2]
try:
    s = sizes[5]
except IndexError:
    s = 100
image_clue_0.crop((0, 0, s, s)).show()
=> crop 0 0 100 100
### a condition that cannot be known
import random
if random.random() > 0.5:
    image_clue_0.crop((0, 0, 10, 10))
=> crop 0 0 10 10 ?
### both branches of what cannot be known
v = image_clue_0.getpixel((0, 0))[0]
if v > 100:
    r = image_clue_0.rotate(90, expand=True)
else:
    r = image_clue_0.rotate(180)
=> numerical_analysis; rotate_90 ?; rotate_180 ?
### a mode that is not known leaves the place known
img = image_clue_0
if img.mode != 'RGB':
    img = img.convert('RGB')
img.crop((10, 20, 30, 40)).show()
=> crop 10 20 30 40
### a box that is found, not written
a = np.array(image_clue_0)
ys, xs = np.nonzero(a[:, :, 0] > 200)
image_clue_0.crop((xs.min(), ys.min(), xs.max(), ys.max())).show()
=> crop
### boxes from a detector
import cv2
gray = cv2.cvtColor(np.array(image_clue_0), cv2.COLOR_RGB2GRAY)
cnts, _ = cv2.findContours(gray, 0, 1)
for c in cnts:
    x, y, w, h = cv2.boundingRect(c)
    image_clue_0.crop((x, y, x + w, y + h))
=> grayscale; segmentation; crop ?
### many statements on a line
a = 5; b = a * 10; image_clue_0.crop((a, a, b, b)).show(); print('x')
=> crop 5 5 50 50
### lines joined
part = image_clue_0 \
    .crop((10, 10,
           60, 60)) \
    .rotate(180)
part.show()
=> crop 10 10 60 60; rotate_180
### windows line ends
x = 10${'\r'}
image_clue_0.crop((x, x, 20, 20)).show()${'\r'}
=> crop 10 10 20 20
### hexadecimal and underscores
image_clue_0.crop((0x10, 0b101, 1_00, 0o144)).show()
=> crop 16 5 100 100
### type annotations
from typing import Tuple
def cut(box: Tuple[int, int, int, int], im: "Image.Image" = image_clue_0) -> "Image.Image":
    out: "Image.Image" = im.crop(box)
    return out
cut((3, 3, 33, 33)).show()
=> crop 3 3 33 33
### decorated function
import functools
@functools.lru_cache
def cut(x):
    return image_clue_0.crop((x, x, x + 10, x + 10))
cut(4).show()
=> crop 4 4 14 14
### default bound early
x = 10
def cut(a=x):
    return image_clue_0.crop((a, 0, a + 50, 50))
x = 99
cut().show()
=> crop 10 0 60 50
### star arguments
args = ((7, 7, 47, 47),)
image_clue_0.crop(*args).show()
opts = {'expand': True}
image_clue_0.rotate(90, **opts).crop((0, 0, 10, 10)).show()
=> crop 7 7 47 47; rotate_90; crop 630 0 640 10
### keyword only and variadic
def many(*boxes, scale=1):
    return [image_clue_0.crop(tuple(v * scale for v in b)) for b in boxes]
many((0, 0, 5, 5), (10, 10, 20, 20), scale=2)
=> crop 0 0 10 10; crop 20 20 40 40
### nested functions and nonlocal names
def outer():
    box = (8, 8, 28, 28)
    def inner():
        return image_clue_0.crop(box)
    return inner()
outer().show()
=> crop 8 8 28 28
### global statement
last = None
def keep():
    global last
    last = image_clue_0.crop((0, 0, 200, 200))
keep()
last.crop((100, 100, 150, 150)).show()
=> crop 0 0 200 200; crop 100 100 150 150
### match
mode = 'crop'
match mode:
    case 'crop':
        image_clue_0.crop((0, 0, 12, 12))
    case _:
        image_clue_0.rotate(90)
=> crop 0 0 12 12 ?; rotate_90 ?
### show only
image_clue_0.show()
=>
### save only
image_clue_0.save('copy.png')
print('copy.png')
=>
### print only
print('The answer is 42')
=>
### numbers only
total = sum([3, 4, 5])
print(total * 2)
=>
### an endless loop is given up
i = 0
while True:
    i += 1
=>
### a long loop over unknown things
import os
for name in os.listdir('.'):
    Image.open(name).crop((0, 0, 10, 10))
=> crop 0 0 10 10 ?
### deleted names are gone
part = image_clue_0.crop((0, 0, 20, 20))
del part
part.rotate(90)
=> crop 0 0 20 20
### assertion that fails
w, h = image_clue_0.size
assert w < h, 'landscape'
image_clue_0.rotate(90)
=>
### unpacking that fails
a, b, c = image_clue_0.size
image_clue_0.rotate(90)
=>
### exec of text is not followed
exec("image_clue_0.crop((0, 0, 10, 10))")
=>
### a comparison of sizes
if image_clue_0.size == (640, 400) and image_clue_0.width != 10:
    image_clue_0.crop((0, 0, 64, 40)).show()
=> crop 0 0 64 40
### negative and empty boxes
image_clue_0.crop((-10, -20, 30, 40)).show()
image_clue_0.crop((50, 50, 50, 90))
=> crop -10 -20 30 40; crop 50 50 50 90
### outside of the image
image_clue_0.crop((700, 500, 800, 600))
=> crop 700 500 800 600
`;
