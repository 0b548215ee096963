/** numpy, OpenCV, matplotlib and others, one call at a time. */
export const arraySnippets: string = `
### array slice
a = np.array(image_clue_0)
Image.fromarray(a[50:150, 100:300]).show()
=> crop 100 50 300 150
### array slice of three dimensions
arr = np.asarray(image_clue_0)
part = arr[20:120, 40:140, :]
Image.fromarray(part).show()
=> crop 40 20 140 120
### array slice of rows only
arr = np.array(image_clue_0)
Image.fromarray(arr[300:]).show()
=> crop 0 300 640 400
### array slice with ends left open and from the end
arr = np.array(image_clue_0)
h, w = arr.shape[:2]
Image.fromarray(arr[: h // 2, -100:]).show()
=> crop 540 0 640 200
### array slice beyond the end is clamped
arr = np.array(image_clue_0)
Image.fromarray(arr[350:900, 600:900]).show()
=> crop 600 350 640 400
### array shape of three
arr = np.array(image_clue_0)
height, width, _ = arr.shape
Image.fromarray(arr[height - 50 : height, width - 60 : width]).show()
=> crop 580 350 640 400
### array slice assigned to is no crop
arr = np.array(image_clue_0)
arr[10:20, 30:40] = 255
Image.fromarray(arr).show()
=>
### rot90 and its powers
a = np.array(image_clue_0)
Image.fromarray(np.rot90(a)).show()
Image.fromarray(np.rot90(a, 2)).show()
Image.fromarray(np.rot90(a, k=-1)).show()
Image.fromarray(np.rot90(a, k=3)).show()
=> rotate_90; rotate_180; rotate_270; rotate_270
### rot90 clockwise by its axes
a = np.array(image_clue_0)
Image.fromarray(np.rot90(a, axes=(1, 0))).show()
=> rotate_270
### rot90 by four
a = np.array(image_clue_0)
Image.fromarray(np.rot90(a, 4)).show()
=> rotate ~
### flips of numpy
a = np.array(image_clue_0)
Image.fromarray(np.fliplr(a)).show()
Image.fromarray(np.flipud(a)).show()
Image.fromarray(np.flip(a, axis=1)).show()
Image.fromarray(np.flip(a, 0)).show()
Image.fromarray(np.flip(a, (0, 1))).show()
=> flip_horizontal; flip_vertical; flip_horizontal; flip_vertical; rotate_180
### flips by slices
a = np.array(image_clue_0)
Image.fromarray(a[::-1]).show()
Image.fromarray(a[:, ::-1]).show()
Image.fromarray(a[::-1, ::-1]).show()
=> flip_vertical; flip_horizontal; rotate_180
### channels backwards are no flip
a = np.array(image_clue_0)
b = a[:, :, ::-1]
c = a[..., ::-1]
d = a[:, :, 0]
=>
### every second pixel
a = np.array(image_clue_0)
Image.fromarray(a[::2, ::2]).show()
=> resize 320 200
### crop and flip in one slice
a = np.array(image_clue_0)
Image.fromarray(a[100:200, 300:100:-1]).show()
=> crop 101 100 301 200; flip_horizontal
### numpy transpose
a = np.array(image_clue_0)
Image.fromarray(np.ascontiguousarray(a.transpose(1, 0, 2))).show()
Image.fromarray(np.ascontiguousarray(np.swapaxes(a, 0, 1))).show()
=> transpose; transpose
### channels first is no transpose of the image
a = np.array(image_clue_0)
b = a.transpose(2, 0, 1)
=>
### numbers of an array
a = np.array(image_clue_0.convert('L'))
print(a.mean(), np.std(a), a.max())
hist, edges = np.histogram(a, bins=16)
=> grayscale; numerical_analysis; numerical_analysis; numerical_analysis; histogram
### arithmetic with an array
a = np.array(image_clue_0).astype(np.float32)
b = np.clip(a * 1.4, 0, 255).astype(np.uint8)
c = 255 - np.array(image_clue_0)
Image.fromarray(b).show()
=> brightness_up; invert
### scaled to one is nothing
a = np.array(image_clue_0) / 255.0
=>
### OpenCV crop
import cv2
img = cv2.imread('/tmp/input.png')
crop = img[40:140, 60:260]
cv2.imwrite('crop.png', crop)
=> crop 60 40 260 140
### OpenCV rotations
import cv2
a = np.array(image_clue_0)
cv2.rotate(a, cv2.ROTATE_90_CLOCKWISE)
cv2.rotate(a, cv2.ROTATE_90_COUNTERCLOCKWISE)
cv2.rotate(a, cv2.ROTATE_180)
=> rotate_270; rotate_90; rotate_180
### OpenCV flips
import cv2
a = np.array(image_clue_0)
cv2.flip(a, 1)
cv2.flip(a, 0)
cv2.flip(a, -1)
=> flip_horizontal; flip_vertical; rotate_180
### OpenCV resizes
import cv2
a = np.array(image_clue_0)
b = cv2.resize(a, (320, 100), interpolation=cv2.INTER_AREA)
c = cv2.resize(a, None, fx=2, fy=0.5, interpolation=cv2.INTER_CUBIC)
=> resize 320 100; resize 1280 200
### OpenCV warps are flagged
import cv2
a = np.array(image_clue_0)
h, w = a.shape[:2]
M = cv2.getRotationMatrix2D((w / 2, h / 2), 30, 1.0)
r = cv2.warpAffine(a, M, (w, h))
p = cv2.warpPerspective(a, H, (w, h)) if False else r
=> warp
### OpenCV tones
import cv2
bgr = cv2.cvtColor(np.array(image_clue_0), cv2.COLOR_RGB2BGR)
gray = cv2.cvtColor(bgr, cv2.COLOR_BGR2GRAY)
eq = cv2.equalizeHist(gray)
clahe = cv2.createCLAHE(clipLimit=2.0, tileGridSize=(8, 8))
better = clahe.apply(gray)
louder = cv2.convertScaleAbs(bgr, alpha=1.5, beta=10)
=> grayscale; equalize; equalize; contrast
### OpenCV filters
import cv2
a = np.array(image_clue_0)
cv2.GaussianBlur(a, (5, 5), 0)
cv2.medianBlur(a, 3)
k = np.ones((3, 3), np.uint8)
cv2.erode(a, k)
cv2.dilate(a, k, iterations=1)
cv2.filter2D(a, -1, np.array([[0, -1, 0], [-1, 5, -1], [0, -1, 0]]))
=> gaussian_blur; median_blur; erode; dilate; filter
### OpenCV finds things
import cv2
gray = cv2.cvtColor(np.array(image_clue_0), cv2.COLOR_RGB2GRAY)
edges = cv2.Canny(gray, 100, 200)
_, mask = cv2.threshold(gray, 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
contours, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
circles = cv2.HoughCircles(gray, cv2.HOUGH_GRADIENT, 1, 20)
print(len(contours))
=> grayscale; edge_detect; segmentation; segmentation; detection
### OpenCV draws
import cv2
vis = np.array(image_clue_0)
cv2.rectangle(vis, (10, 10), (60, 60), (255, 0, 0), 2)
cv2.line(vis, (0, 0), (9, 9), (0, 255, 0))
cv2.putText(vis, 'x', (5, 5), cv2.FONT_HERSHEY_SIMPLEX, 1, (0, 0, 0))
=> render_marks; render_lines; render_text
### OpenCV splits and merges
import cv2
b, g, r = cv2.split(np.array(image_clue_0))
rgb = cv2.merge([r, g, b])
cv2.calcHist([rgb], [0], None, [256], [0, 256])
=> histogram
### OpenCV border
import cv2
b = cv2.copyMakeBorder(np.array(image_clue_0), 5, 5, 10, 10, cv2.BORDER_CONSTANT)
=> pad
### matplotlib shows the image again
plt.imshow(image_clue_0)
plt.axis('off')
plt.show()
=>
### matplotlib shows a crop
plt.figure(figsize=(8, 6))
plt.imshow(image_clue_0.crop((0, 0, 200, 200)))
plt.title('top left')
plt.show()
=> crop 0 0 200 200
### matplotlib side by side
fig, axes = plt.subplots(1, 2)
axes[0].imshow(image_clue_0.crop((0, 0, 320, 400)))
axes[1].imshow(image_clue_0.crop((320, 0, 640, 400)))
plt.show()
=> crop 0 0 320 400; crop 320 0 640 400
### matplotlib marks
import matplotlib.patches as patches
fig, ax = plt.subplots()
ax.imshow(image_clue_0)
ax.add_patch(patches.Rectangle((50, 60), 100, 80, fill=False, edgecolor='r'))
ax.plot([0, 10], [0, 10])
plt.show()
=> render_marks; render_lines
### matplotlib histogram
plt.hist(np.array(image_clue_0.convert('L')).ravel(), bins=64)
plt.show()
=> grayscale
### text recognition
import pytesseract
print(pytesseract.image_to_string(image_clue_0.crop((0, 0, 100, 50))))
=> crop 0 0 100 50; ocr
### text recognition with a reader
import easyocr
reader = easyocr.Reader(['en'])
result = reader.readtext(np.array(image_clue_0))
=> ocr
### scipy and skimage
from scipy import ndimage
from skimage import transform, filters
a = np.array(image_clue_0)
ndimage.rotate(a, 90)
ndimage.rotate(a, 30)
ndimage.gaussian_filter(a, 2)
=> rotate_90; rotate; gaussian_blur
`;
