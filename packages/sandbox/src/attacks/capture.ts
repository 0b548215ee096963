/** Attacks by way of what a session returns besides what code shows: values, files, their names. */
import type { CaptureOptions } from '../session.ts';
import { type Attack, everywhere } from './attack.ts';

const everything: CaptureOptions = {
  lastExpression: true,
  printedFiles: true,
  savedFiles: true,
  figures: { isTight: true },
};

const cases: readonly Omit<Attack, 'capture'>[] = [
  {
    name: 'an image of the host, linked, printed and saved',
    group: 'escape',
    code: `
os.symlink(HOST_IMAGE, "link.png")
os.symlink(os.path.dirname(HOST_IMAGE), "folder")
os.mkdir("inner")
os.symlink(os.path.relpath(HOST_IMAGE, "inner"), "inner/link.png")
for name in (HOST_IMAGE, os.path.relpath(HOST_IMAGE), "folder/" + os.path.basename(HOST_IMAGE),
             "link.png", "./link.png", "inner/link.png", "inner/../link.png", "../" * 20 + HOST_IMAGE):
    print(name)`,
    expected: everywhere('harmless'),
  },
  {
    name: 'an image of the host in place of one that is read',
    group: 'escape',
    code: `
names = [f"{i}.png" for i in range(8)]
Image.new("RGB", (64, 64)).save("good.data", "PNG")
for name in names: os.link("good.data", name)
def swap():
    give_up = time.monotonic() + 1
    while time.monotonic() < give_up:
        for make in (lambda: os.symlink(HOST_IMAGE, "t"), lambda: os.link("good.data", "t")):
            for name in names:
                make()
                os.replace("t", name)
    os._exit(0)
if os.fork() == 0: swap()
time.sleep(0.1)
print(*names)`,
    expected: everywhere('harmless'),
  },
  {
    name: 'its directory swapped for a link to one of the host',
    group: 'escape',
    code: `
os.mkdir("out")
os.chdir("out")
os.rename("../out", "../aside")
os.symlink(os.path.dirname(HOST_IMAGE), "../out")
for folder in ("../out/", "out/"): print(folder + os.path.basename(HOST_IMAGE))
try:
    here = os.path.dirname(os.getcwd())
    os.rename(here, here + ".aside")
    os.symlink(os.path.dirname(HOST_IMAGE), here)
except OSError: pass
print(os.path.basename(HOST_IMAGE))`,
    expected: everywhere('harmless'),
  },
  {
    name: 'pipes, devices, sockets and folders named as images',
    group: 'escape',
    code: `
import socket
os.mkfifo("pipe.png")
os.mkdir("folder.png")
os.symlink("/dev/zero", "zero.png")
os.symlink("loop.png", "loop.png")
for make in (lambda: os.mknod("null.png", 0o20666, os.makedev(1, 3)),
             lambda: socket.socket(socket.AF_UNIX).bind("socket.png")):
    try: make()
    except OSError: pass
for name in ("pipe", "folder", "zero", "loop", "null", "socket", "/dev/zero"): print(name + ".png")`,
    expected: everywhere('harmless'),
  },
  {
    name: 'names of images with newlines, NUL, 255 bytes and ..',
    group: 'escape',
    code: `
image = Image.new("RGB", (9, 9))
for name in (b"a\\nb.png", b"x" * 251 + b".png", b"\\xff.png", b"\\x1b[2J.png", b"..png", b"...png"):
    with open(name, "wb") as file: image.save(file, "PNG")
print("a\\nb.png", "x" * 251 + ".png", "x" * 9000 + ".png")
print("\\0.png ../../.png //.png ~/.png $HOME/.png \\udcff.png", sep="\\0")`,
    expected: everywhere('harmless'),
  },
  {
    name: 'an image file that unpacks to 400 megapixels',
    group: 'resources',
    code: `
import struct, warnings, zlib
def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
head = struct.pack(">IIBBBBB", 20_000, 20_000, 1, 0, 0, 0, 0)
with open("bomb.png", "wb") as file:
    file.write(b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(bytes(20_000 * 2_501))) + chunk(b"IEND", b""))
Image.MAX_IMAGE_PIXELS = None
warnings.simplefilter("ignore")
print("bomb.png")`,
    expected: everywhere('harmless'),
  },
  {
    name: '10 000 names of images printed',
    group: 'resources',
    code: `
Image.new("RGB", (9, 9)).save("0.png")
for i in range(200): os.link("0.png", f"{i + 1}.png")
for i in range(10_000): print(f"{i % 300}.png", end=" ")`,
    expected: everywhere('harmless'),
  },
  {
    name: 'a figure with text far outside, cut to what it shows',
    group: 'resources',
    code: 'plt.text(1e6, 1e6, "far")\nattempt("figure", plt.show)',
    expected: everywhere('refused'),
  },
  {
    name: 'a value whose text never ends',
    group: 'resources',
    code: 'class Endless:\n    def __str__(self):\n        while True: pass\nEndless()',
    expected: everywhere('stopped'),
    isBomb: true,
  },
];

export const captureAttacks: readonly Attack[] = cases.map((attack) => ({
  ...attack,
  capture: everything,
}));
