/**
 * Programs that use what sessions may use: the libraries, files, processes, threads. Whatever the kernel
 * is asked for here must be on the list of allowed calls (python/system_calls.py).
 */
import type { SessionMode } from '../session.ts';

export interface Exercise {
  readonly name: string;
  /** Python; it prints `done` at its end, and nothing where it fails. */
  readonly code: string;
  readonly mode?: SessionMode;
}

const libraries: readonly Exercise[] = [
  {
    name: 'numpy: linear algebra, FFT, files, maps of files, threads of the BLAS',
    code: `
a = np.random.default_rng(0).normal(size=(300, 300))
np.linalg.svd(a @ a.T); np.fft.fft2(a); np.linalg.inv(a)
np.save("a.npy", a); np.savez_compressed("a.npz", a=a); a.tofile("a.raw")
assert np.array_equal(np.load("a.npy", mmap_mode="r+"), a)
assert np.array_equal(np.load("a.npz")["a"], a)
m = np.memmap("m.raw", dtype="u1", mode="w+", shape=(4096,)); m[:] = 7; m.flush()
np.savetxt("a.txt", a[:3]); np.loadtxt("a.txt"); np.fromfile("a.raw")
np.random.default_rng(); np.random.seed(); np.show_config
print("done")`,
  },
  {
    name: 'Pillow: every format it writes, fonts, filters, quantization',
    code: `
from PIL import Image, ImageDraw, ImageFilter, ImageFont, ImageOps, ImageSequence
image = Image.effect_noise((320, 200), 60).convert("RGB")
for name in "png jpg webp bmp gif tiff ppm tga ico jp2 pdf avif dds eps pcx sgi".split():
    try: image.save("x." + name)
    except (KeyError, OSError) as error:
        if isinstance(error, PermissionError): raise
    else:
        if name not in ("pdf", "eps"): Image.open("x." + name).load()
image.save("all.gif", save_all=True, append_images=[image.rotate(9), image.rotate(20)])
assert len(list(ImageSequence.Iterator(Image.open("all.gif")))) == 3
ImageDraw.Draw(image).text((3, 3), "text", font=ImageFont.load_default(20))
image.filter(ImageFilter.GaussianBlur(3)).quantize(16).convert("L").resize((9, 9), Image.LANCZOS)
image.getexif(); image.tobytes(); image.thumbnail((20, 20))
print("done")`,
  },
  {
    name: 'matplotlib: its file formats, text, 3D, animations',
    code: `
from matplotlib import animation, font_manager
figure, axes = plt.subplots(2, 2)
axes[0, 0].plot([1, 3, 2]); axes[0, 1].imshow(np.eye(20)); axes[1, 0].hist([1, 2, 2])
axes[1, 1].set_title(r"$\\frac{a}{b}$")
figure.add_subplot(projection="3d").plot([1, 2], [1, 2], [1, 2])
figure.colorbar(axes[0, 1].images[0])
for name in "png pdf svg ps eps jpg webp tif raw".split(): figure.savefig("figure." + name)
font_manager.findfont("DejaVu Sans", rebuild_if_missing=False)
animation.FuncAnimation(figure, lambda i: axes[0, 0].plot([i, 1]), frames=3).save(
    "a.gif", writer=animation.PillowWriter())
plt.close("all")
print("done")`,
  },
  {
    name: 'OpenCV: files, drawing, features, video, threads',
    code: `
import cv2
image = np.random.default_rng(0).integers(0, 255, (480, 640, 3), dtype="u1")
for name in ("png", "jpg", "webp", "tiff", "bmp", "jp2"):
    if cv2.imwrite("x." + name, image): cv2.imread("x." + name)
cv2.setNumThreads(3)
gray = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
cv2.GaussianBlur(image, (31, 31), 0); cv2.Canny(gray, 50, 90); cv2.resize(image, (99, 99))
cv2.ORB_create().detectAndCompute(gray, None)
cv2.findContours((gray > 99).astype("u1"), cv2.RETR_TREE, cv2.CHAIN_APPROX_SIMPLE)
cv2.putText(image, "text", (9, 99), cv2.FONT_HERSHEY_SIMPLEX, 2, (0, 0, 0))
cv2.dft(np.float32(gray)); cv2.kmeans(np.float32(image.reshape(-1, 3)[:999]), 3, None, (3, 5, 1), 1, 0)
writer = cv2.VideoWriter("x.avi", cv2.VideoWriter_fourcc(*"MJPG"), 10, (640, 480))
for _ in range(5): writer.write(image)
writer.release()
reader = cv2.VideoCapture("x.avi")
assert sum(reader.read()[0] for _ in range(5)) == 5
reader.release()
cv2.VideoCapture(0).isOpened(); cv2.getNumberOfCPUs(); cv2.getTickCount()
print("done")`,
  },
  {
    name: 'PyAV: encoding and decoding with threads, images, sound',
    code: `
import av
with av.open("x.mp4", "w") as out:
    stream = out.add_stream("mpeg4", rate=10)
    stream.width, stream.height, stream.pix_fmt = 160, 120, "yuv420p"
    for i in range(12):
        frame = av.VideoFrame.from_ndarray(np.full((120, 160, 3), 9 * i, "u1"), format="rgb24")
        for packet in stream.encode(frame): out.mux(packet)
    for packet in stream.encode(): out.mux(packet)
for kind in ("AUTO", "NONE", "SLICE"):
    with av.open("x.mp4") as file:
        file.streams.video[0].thread_type = kind
        file.streams.video[0].codec_context.thread_count = 2
        assert len(list(file.decode(video=0))) == 12
        file.seek(0)
av.open(__import__("io").BytesIO(open("x.mp4", "rb").read())).close()
with av.open("x.wav", "w") as out:
    stream = out.add_stream("pcm_s16le", rate=8000)
    stream.layout = "mono"
    frame = av.AudioFrame.from_ndarray(np.zeros((1, 800), "i2"), format="s16", layout="mono")
    frame.sample_rate = 8000
    for packet in stream.encode(frame): out.mux(packet)
print("done")`,
  },
  {
    name: 'decord’s interface over PyAV',
    code: `
import av
with av.open("x.mp4", "w") as out:
    stream = out.add_stream("mpeg4", rate=10)
    stream.width, stream.height, stream.pix_fmt = 64, 64, "yuv420p"
    for i in range(12):
        frame = av.VideoFrame.from_ndarray(np.full((64, 64, 3), 9 * i, "u1"), format="rgb24")
        for packet in stream.encode(frame): out.mux(packet)
    for packet in stream.encode(): out.mux(packet)
from decord import VideoReader
assert VideoReader("x.mp4").get_batch([0, 5, 11]).asnumpy().shape == (3, 64, 64, 3)
print("done")`,
  },
];

const system: readonly Exercise[] = [
  {
    name: 'files: everything one does with one’s own',
    code: `
import glob, os, pathlib, shutil, stat, tarfile, tempfile, zipfile, fcntl, mmap
with open("a", "w") as file:
    file.write("text"); file.flush(); os.fsync(file.fileno()); os.fdatasync(file.fileno())
    fcntl.flock(file, fcntl.LOCK_EX); fcntl.lockf(file, fcntl.LOCK_UN); file.isatty()
    os.ftruncate(file.fileno(), 2); os.posix_fallocate(file.fileno(), 0, 99); os.fstatvfs(file.fileno())
    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_SEQUENTIAL)
os.truncate("a", 9); os.rename("a", "b"); os.replace("b", "a"); os.link("a", "hard")
os.symlink("a", "soft"); os.readlink("soft"); os.lstat("soft"); os.stat("a"); os.access("a", os.R_OK)
os.makedirs("d/e/f"); os.mkfifo("pipe"); os.listdir("."); list(os.walk(".")); list(os.scandir("."))
shutil.copy("a", "d/a"); shutil.copy2("a", "d/a2"); shutil.copytree("d", "g"); shutil.move("g", "h")
shutil.make_archive("z", "zip", "d"); shutil.make_archive("t", "gztar", "d")
zipfile.ZipFile("z.zip").extractall("zz"); tarfile.open("t.tar.gz").extractall("tt")
shutil.disk_usage("."); os.statvfs("."); os.umask(0o22); os.chdir("d"); os.chdir("..")
folder = os.open("d", os.O_RDONLY); os.stat("a", dir_fd=folder); os.mkdir("q", dir_fd=folder)
os.unlink("a", dir_fd=folder); os.rmdir("q", dir_fd=folder); os.fchdir(folder); os.chdir(".."); os.close(folder)
number = os.open("a", os.O_RDWR); os.pread(number, 1, 0); os.pwrite(number, b"x", 0)
os.preadv(number, [bytearray(2)], 0); os.pwritev(number, [b"y"], 0); os.readv(number, [bytearray(1)])
os.writev(number, [b"z"]); os.lseek(number, 0, 2); copy = os.dup(number); os.dup2(number, 40); os.close(40)
os.sendfile(number, copy, 0, 1); os.copy_file_range(copy, number, 1, 0, 4); os.set_inheritable(copy, True)
os.get_blocking(number); os.set_blocking(number, True); os.close(copy); os.close(number)
with open("a", "r+b") as file:
    with mmap.mmap(file.fileno(), 0) as view: view[0] = 1; view.flush(); view.resize(8192)
with tempfile.TemporaryDirectory() as place, tempfile.NamedTemporaryFile(), tempfile.TemporaryFile() as t:
    pathlib.Path(place, "x").write_text("y"); t.write(b"1")
os.listxattr("a"); glob.glob("**", recursive=True); os.path.realpath("soft"); os.getcwd(); os.remove("soft")
shutil.rmtree("d"); os.get_terminal_size if not sys.stdout.isatty() else None
print("done")`.replace('import glob,', 'import sys, glob,'),
  },
  {
    name: 'threads, executors, queues, events, subinterpreters of time',
    code: `
import asyncio, concurrent.futures, queue, sched, select, signal, threading, time
with concurrent.futures.ThreadPoolExecutor(3) as pool: list(pool.map(abs, range(99)))
event = threading.Event(); threading.Timer(0.01, event.set).start(); event.wait(1)
threading.stack_size(1 << 20); thread = threading.Thread(target=time.sleep, args=(0.01,)); thread.start(); thread.join()
async def main():
    await asyncio.sleep(0.01)
    await asyncio.get_running_loop().run_in_executor(None, abs, 1)
asyncio.run(main())
import os
a, b = os.pipe(); select.select([], [b], [], 0); poll = select.poll(); poll.register(b); poll.poll(1)
with select.epoll() as e: e.register(b); e.poll(0.01)
signal.signal(signal.SIGALRM, lambda *_: None); signal.setitimer(signal.ITIMER_REAL, 0.01); signal.pause()
signal.alarm(0); signal.sigpending(); signal.pthread_sigmask(signal.SIG_BLOCK, []); signal.raise_signal(signal.SIGUSR1) if 0 else 0
signal.sigtimedwait([signal.SIGUSR1], 0.01); signal.siginterrupt(signal.SIGALRM, True)
time.sleep(0.001); time.process_time(); time.thread_time(); time.clock_getres(time.CLOCK_MONOTONIC); time.tzset()
os.eventfd(0); os.times(); os.getloadavg if 0 else 0; os.sched_yield(); os.sched_getaffinity(0); os.cpu_count()
os.nice(0); os.getpriority(0, 0); os.getrandom(8); os.urandom(8)
print("done")`,
  },
  {
    name: 'processes: forks, subprocesses, pools, pipes',
    code: `
import multiprocessing, os, signal, socket, subprocess, sys
pid = os.fork()
if pid == 0: os._exit(3)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 3
child = os.fork()
if child == 0: signal.pause()
os.kill(child, 9); os.waitid(os.P_PID, child, os.WEXITED); os.getpgid(0); os.getsid(0); os.getppid()
assert subprocess.run(["/bin/echo", "x"], capture_output=True).stdout == b"x\\n"
assert subprocess.run("ls | sort | head -1; sleep 0.01", shell=True, capture_output=True).returncode == 0
assert subprocess.run([sys.executable, "-c", "import json, ctypes, hashlib; print(1)"],
    capture_output=True).stdout == b"1\\n"
assert os.posix_spawn("/bin/true", ["true"], {}) > 0; os.wait()
def double(x): return 2 * x
context = multiprocessing.get_context("fork")
a, b = context.Pipe()
worker = context.Process(target=lambda: b.send([1, 2])); worker.start()
assert a.recv() == [1, 2]; worker.join()
p, q = socket.socketpair(); p.sendall(b"x"); q.recv(1); p.settimeout(0.1); p.shutdown(1); q.recv(1); p.close()
print("done")`,
  },
  {
    name: 'the standard library besides: databases, hashes, compression, C functions',
    code: `
import bz2, csv, ctypes, ctypes.util, decimal, faulthandler, hashlib, locale, logging, lzma, os, pickle, platform
import resource, shelve, sqlite3, tracemalloc, uuid, zlib, gc, getpass, gettext
base = sqlite3.connect("x.db"); base.execute("create table t(a)"); base.execute("pragma journal_mode=wal")
base.execute("insert into t values (1)"); base.commit(); base.close()
with shelve.open("s") as s: s["a"] = 1
bz2.compress(b"x"); lzma.compress(b"x"); zlib.compress(b"x"); hashlib.scrypt(b"x", salt=b"y", n=2, r=1, p=1)
uuid.uuid4(); uuid.uuid1(); platform.platform(); platform.libc_ver(); tracemalloc.start(); tracemalloc.stop()
resource.getrusage(resource.RUSAGE_CHILDREN); resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_NOFILE, resource.getrlimit(resource.RLIMIT_NOFILE))
compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(lambda a, b: 0)
ctypes.CDLL(None).qsort((ctypes.c_int * 3)(3, 1, 2), 3, 4, compare)
import mmap; mmap.mmap(-1, 1 << 20).madvise(mmap.MADV_DONTNEED); x = bytearray(64 << 20); x.extend(bytes(64 << 20))
os.uname(); os.getlogin if 0 else 0; os.getuid(), os.geteuid(), os.getgid(), os.getegid(), os.getgroups(), os.getresuid()
locale.setlocale(locale.LC_ALL, "C"); print("done")`,
  },
];

const sessions: readonly Exercise[] = [
  {
    name: 'a transactional session: a success, a failure rolled back, files restored',
    mode: 'transactional',
    code: `
import os
open("kept", "w").write("1"); os.mkdir("folder"); os.mkfifo("pipe")
image = Image.new("RGB", (64, 64)); plt.plot([1]); plt.show(); image.show()
print("done")`,
  },
  {
    name: 'a fresh session, each execution from the beginning',
    mode: 'fresh',
    code: 'open("x", "w").write("1")\nprint("done")',
  },
];

export const exercises: readonly Exercise[] = [...libraries, ...system, ...sessions];

/** Code that fails after changing files: what brings them back asks the kernel for more. */
export const failing = `
import os
open("kept", "w").write("2"); os.remove("kept"); open("new", "w").close(); os.rmdir("folder"); os.remove("pipe")
1 / 0`;
