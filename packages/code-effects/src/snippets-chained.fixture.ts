/** Chains of operations, loops, functions and sessions of several turns. */
export const chainedSnippets: string = `
### rotate then crop
image_clue_0.rotate(90, expand=True).crop((10, 20, 110, 220)).show()
=> rotate_90; crop 420 10 620 110
### half turn then crop
image_clue_0.rotate(180).crop((10, 20, 110, 120)).show()
=> rotate_180; crop 530 280 630 380
### clockwise then crop
image_clue_0.rotate(-90, expand=True).crop((10, 20, 110, 220)).show()
=> rotate_270; crop 20 290 220 390
### mirror then crop
image_clue_0.transpose(Image.FLIP_LEFT_RIGHT).crop((0, 0, 100, 50)).show()
=> flip_horizontal; crop 540 0 640 50
### flip then crop
from PIL import ImageOps
ImageOps.flip(image_clue_0).crop((0, 0, 100, 50)).show()
=> flip_vertical; crop 0 350 100 400
### crop of a crop
a = image_clue_0.crop((100, 100, 400, 300))
b = a.crop((50, 50, 150, 150))
b.show()
=> crop 100 100 400 300; crop 150 150 250 250
### crop, enlarge, crop
a = image_clue_0.crop((100, 100, 300, 200)).resize((800, 400), Image.NEAREST)
a.crop((400, 0, 800, 200)).show()
=> crop 100 100 300 200; resize 800 400; crop 200 100 300 150
### rotate, crop, resize, crop
r = image_clue_0.rotate(90, expand=True)
c = r.crop((100, 200, 300, 400))
z = c.resize((400, 400), Image.NEAREST)
z.crop((0, 0, 200, 100)).show()
=> rotate_90; crop 240 100 440 300; resize 400 400; crop 390 100 440 200
### resize then crop in the small frame
small = image_clue_0.resize((320, 200), Image.NEAREST)
small.crop((10, 20, 60, 70)).show()
=> resize 320 200; crop 20 40 120 140
### array rotation then slice
a = np.rot90(np.array(image_clue_0))
Image.fromarray(np.ascontiguousarray(a[0:100, 0:50])).show()
=> rotate_90; crop 540 0 640 50
### mirrored array then slice
a = np.array(image_clue_0)[:, ::-1]
Image.fromarray(np.ascontiguousarray(a[10:60, 0:80])).show()
=> flip_horizontal; crop 560 10 640 60
### transposed then cropped
image_clue_0.transpose(Image.Transpose.TRANSPOSE).crop((10, 20, 30, 60)).show()
=> transpose; crop 20 10 60 30
### transversed then cropped
image_clue_0.transpose(Image.Transpose.TRANSVERSE).crop((10, 20, 30, 60)).show()
=> transverse; crop 580 370 620 390
### two quarter turns then crop
image_clue_0.rotate(90, expand=True).rotate(90, expand=True).crop((0, 0, 100, 100)).show()
=> rotate_90; rotate_90; crop 540 300 640 400
### every other pixel then crop
a = np.array(image_clue_0)[::4, ::2]
Image.fromarray(np.ascontiguousarray(a[10:20, 30:50])).show()
=> resize 320 100; crop 60 40 100 80
### half a crop over the left edge of a turned image
r = image_clue_0.transpose(Image.ROTATE_90)
r.crop((300, 0, 400, 100)).show()
=> rotate_90; crop 540 300 640 400
### crop then grayscale then enhance then resize
from PIL import ImageEnhance
part = image_clue_0.crop((200, 100, 300, 200)).convert('L')
part = ImageEnhance.Contrast(part).enhance(1.8)
part = part.resize((part.width * 4, part.height * 4), Image.LANCZOS)
part.show()
=> crop 200 100 300 200; grayscale; contrast; resize 400 400
### fit then crop
from PIL import ImageOps
f = ImageOps.fit(image_clue_0, (400, 400), method=Image.NEAREST)
f.crop((0, 0, 100, 100)).show()
=> resize 400 400; crop 120 0 220 100
### expand then crop
from PIL import ImageOps
e = ImageOps.expand(image_clue_0, 20)
e.crop((30, 40, 130, 140)).show()
=> pad; crop 10 20 110 120
### thumbnail then crop
t = image_clue_0.copy()
t.thumbnail((320, 320), Image.NEAREST, reducing_gap=None)
t.crop((0, 0, 160, 100)).show()
=> resize 320 200; crop 0 0 320 200
### image to array to image
a = np.array(image_clue_0)[100:300, 200:500]
back = Image.fromarray(a)
back.crop((10, 10, 60, 60)).show()
=> crop 200 100 500 300; crop 210 110 260 160
### OpenCV turn then slice
import cv2
a = cv2.rotate(np.array(image_clue_0), cv2.ROTATE_90_CLOCKWISE)
part = a[20:220, 10:110]
=> rotate_270; crop 20 290 220 390
### OpenCV resize then slice
import cv2
big = cv2.resize(cv2.imread('input.jpg'), None, fx=2, fy=2)
part = big[100:300, 200:400]
=> resize 1280 800; crop 100 50 200 150
### OpenCV shift then slice
import cv2
M = np.float32([[1, 0, 30], [0, 1, 10]])
moved = cv2.warpAffine(np.array(image_clue_0), M, (640, 400))
part = moved[10:110, 30:130]
=> warp; crop 0 0 100 100
### OpenCV half turn by a matrix, then slice
import cv2
M = cv2.getRotationMatrix2D((319.5, 199.5), 180, 1)
turned = cv2.warpAffine(np.array(image_clue_0), M, (640, 400))
part = turned[0:50, 0:100]
=> warp; crop 540 350 640 400
### loop over boxes
boxes = [(0, 0, 50, 50), (100, 100, 200, 200), (300, 50, 400, 150)]
for b in boxes:
    image_clue_0.crop(b).show()
=> crop 0 0 50 50; crop 100 100 200 200; crop 300 50 400 150
### loop over a grid
w, h = image_clue_0.size
for i in range(2):
    for j in range(2):
        image_clue_0.crop((j * w // 2, i * h // 2, (j + 1) * w // 2, (i + 1) * h // 2)).show()
=> crop 0 0 320 200; crop 320 0 640 200; crop 0 200 320 400; crop 320 200 640 400
### loop with enumerate over a dictionary
regions = {'left': (0, 0, 100, 400), 'right': (540, 0, 640, 400)}
for i, (name, box) in enumerate(regions.items()):
    part = image_clue_0.crop(box)
    print(i, name, part.size)
=> crop 0 0 100 400; crop 540 0 640 400
### loop over axes and images
fig, axs = plt.subplots(2, 2)
for ax, x in zip(axs.ravel(), [0, 100, 200, 300]):
    ax.imshow(image_clue_0.crop((x, 0, x + 100, 100)))
plt.show()
=> crop 0 0 100 100; crop 100 0 200 100; crop 200 0 300 100; crop 300 0 400 100
### while loop that narrows
box = [0, 0, 640, 400]
n = 0
while n < 3:
    box = [box[0] + 100, box[1] + 50, box[2] - 100, box[3] - 50]
    image_clue_0.crop(box).show()
    n += 1
=> crop 100 50 540 350; crop 200 100 440 300; crop 300 150 340 250
### loop with break and continue
for k in [0, 1, 2, 3, 4]:
    if k == 1:
        continue
    if k == 3:
        break
    image_clue_0.crop((k * 10, 0, k * 10 + 100, 100))
=> crop 0 0 100 100; crop 20 0 120 100
### list comprehension of crops
parts = [image_clue_0.crop((x, 0, x + 64, 64)) for x in range(0, 192, 64)]
parts[1].show()
=> crop 0 0 64 64; crop 64 0 128 64; crop 128 0 192 64
### trying four angles
for angle in (90, 180, 270):
    image_clue_0.rotate(angle, expand=True).show()
=> rotate_90; rotate_180; rotate_270
### function of a box
def zoom(img, box, scale=2):
    part = img.crop(box)
    return part.resize((part.width * scale, part.height * scale), Image.NEAREST)
zoom(image_clue_0, (10, 10, 60, 60)).show()
zoom(image_clue_0, (100, 100, 150, 140), scale=3).show()
=> crop 10 10 60 60; resize 100 100; crop 100 100 150 140; resize 150 120
### function that is never called
def enhance(img):
    return img.rotate(90).crop((0, 0, 5, 5))
print('ready')
=>
### function that reads a global
BOX = (30, 30, 90, 90)
def look():
    return image_clue_0.crop(BOX)
BOX = (40, 40, 80, 80)
look().show()
=> crop 40 40 80 80
### main guard
def main():
    image_clue_0.crop((1, 2, 101, 102)).show()
if __name__ == '__main__':
    main()
=> crop 1 2 101 102
### lambda
cut = lambda im, x: im.crop((x, 0, x + 50, 50))
cut(image_clue_0, 70).show()
=> crop 70 0 120 50
### map of a lambda
list(map(lambda b: image_clue_0.crop(b), [(0, 0, 9, 9), (9, 9, 29, 29)]))
=> crop 0 0 9 9; crop 9 9 29 29
### recursion
def narrow(im, depth):
    if depth == 0:
        return im
    return narrow(im.crop((10, 10, im.width - 10, im.height - 10)).crop((0, 0, 300, 200)), depth - 1)
narrow(image_clue_0, 1).show()
=> crop 10 10 630 390 ~; crop 10 10 310 210
### names stay from turn to turn
part = image_clue_0.crop((100, 100, 300, 300))
part.show()
---
part.crop((50, 50, 100, 100)).show()
=> crop 100 100 300 300; crop 150 150 200 200
### functions and numbers stay
def at(x, y, s=50):
    return image_clue_0.crop((x, y, x + s, y + s))
base = 20
---
at(base, base * 2).show()
=> crop 20 40 70 90
### a name is bound anew
img = image_clue_0.rotate(180)
---
img = image_clue_0
img.crop((0, 0, 100, 100)).show()
=> rotate_180; crop 0 0 100 100
### the same crop again in a later turn
image_clue_0.crop((10, 10, 200, 200)).show()
---
image_clue_0.crop((10, 10, 201, 200)).show()
=> crop 10 10 200 200; crop 10 10 201 200 ~
### the same place by another way
image_clue_0.crop((440, 0, 640, 100)).show()
---
np_img = np.array(image_clue_0)[:, ::-1]
Image.fromarray(np.ascontiguousarray(np_img[0:100, 0:200])).show()
=> crop 440 0 640 100; flip_horizontal; crop 440 0 640 100 ~
### a different crop is not repeated
image_clue_0.crop((0, 0, 100, 100)).show()
---
image_clue_0.crop((50, 50, 150, 150)).show()
=> crop 0 0 100 100; crop 50 50 150 150
### saved and opened again
image_clue_0.crop((0, 0, 300, 300)).save('a.png')
b = Image.open('a.png').crop((100, 100, 200, 200))
b.show()
=> crop 0 0 300 300; crop 100 100 200 200
### saved under a made up name
for i in range(2):
    image_clue_0.crop((i * 100, 0, i * 100 + 100, 100)).save(f'part_{i}.png')
Image.open('part_1.png').crop((10, 10, 20, 20)).show()
=> crop 0 0 100 100; crop 100 0 200 100; crop 110 10 120 20
### opened with a context manager
image_clue_0.save('whole.png')
with Image.open('whole.png') as im:
    im.crop((5, 5, 55, 55)).show()
=> crop 5 5 55 55
### walrus
if (w := image_clue_0.width) > 600:
    image_clue_0.crop((w - 100, 0, w, 100)).show()
=> crop 540 0 640 100
### conditional expression of the known size
im = image_clue_0.rotate(90, expand=True) if image_clue_0.width > image_clue_0.height else image_clue_0
im.crop((0, 0, 200, 200)).show()
=> rotate_90; crop 440 0 640 200
### aliases of modules
import PIL.Image as PI, numpy as numeric
arr = numeric.asarray(image_clue_0)
PI.fromarray(numeric.fliplr(arr)).show()
=> flip_horizontal
### two names for one image
a = b = image_clue_0
a.crop((0, 0, 10, 10))
b.crop((20, 20, 40, 40))
=> crop 0 0 10 10; crop 20 20 40 40
### augmented numbers
x = 10
x += 5
x *= 2
image_clue_0.crop((x, x, x + 100, x + 100)).show()
=> crop 30 30 130 130
### lists that grow
boxes = []
boxes.append((0, 0, 20, 20))
boxes += [(30, 30, 60, 60)]
for b in sorted(boxes, key=lambda t: -t[0]):
    image_clue_0.crop(b)
=> crop 30 30 60 60; crop 0 0 20 20
### chained comparison
x = 5
if 0 <= x < 10:
    image_clue_0.crop((x, 0, 105, 100))
else:
    image_clue_0.rotate(90)
=> crop 5 0 105 100
### math functions
r = math.floor(57.9)
q = int(math.sqrt(400)) + round(2.5)
image_clue_0.crop((r, q, r + 100, q + 100)).show()
=> crop 57 22 157 122
### slices by name
s = slice(10, 60)
a = np.array(image_clue_0)
Image.fromarray(a[s, s]).show()
=> crop 10 10 60 60
### rotated by nothing, then cropped
image_clue_0.rotate(0).crop((0, 0, 100, 100)).show()
=> rotate ~; crop 0 0 100 100
`;
