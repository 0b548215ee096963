"""The process of one session: runs the code it is sent in one namespace and reports how it went."""

import builtins
import os
import random
import resource
import sys
import time
import traceback
import types
import warnings

import numpy
from PIL import Image

import provenance
import video
import video_files
import wire
from extras import Extras
from repairs import Repairs
from static_check import StaticCheck
from transactions import Transactions

CODE_NAME = "<code>"
# Code that leaves nothing behind, and how often the interpreter has to see it before it changes no more.
REHEARSED = ("print(1)", "1 / 0")
REHEARSALS = 20
MAX_MESSAGE = 4 * 1024
MAX_TRACEBACK = 8 * 1024

_clock = time.perf_counter
_own_files = os.path.dirname(os.path.abspath(__file__))
_own_modules = [name[:-3] for name in os.listdir(_own_files) if name.endswith(".py")]


def refuse_input(prompt="", /):
    raise RuntimeError("input() is not available: nobody is there to answer. Use values instead.")


def live_in(directory):
    for name in ("HOME", "TMPDIR", "MPLCONFIGDIR"):
        os.environ[name] = directory


class Worker:
    """Made in the server, all but what differs between sessions: what is not done in a session's process
    touches none of the pages it shares, and touching one costs as much as a thousand instructions.
    """

    def __init__(self, config, template, capture, confinement):
        self.confinement = confinement
        self.limits = config["limits"]
        self.capture = capture
        self.check = StaticCheck(config["forbidden"])
        self.repairs = self.extras = self.sock = None
        # CPU time of the processes that were this session before.
        self.cpu_before = 0.0
        main = types.ModuleType("__main__")
        main.__dict__.update(template)
        sys.modules["__main__"] = main
        self.namespace = main.__dict__
        builtins.input = refuse_input
        random.seed(config["seed"])
        numpy.random.seed(config["seed"])
        # `import capture` is to mean the code's own, or nothing.
        sys.path.remove(_own_files)
        for name in _own_modules:
            sys.modules.pop(name, None)
        if confinement.has_namespaces:
            live_in(confinement.mount_point)

    def rehearse(self):
        """Runs code in the server, as sessions will.

        What the interpreter makes at the first times and keeps (types of syntax trees, caches of
        attributes, specialised instructions) is then in pages that all sessions share.
        """
        streams = sys.stdout, sys.stderr
        self.repairs, self.extras = Repairs({}), Extras({}, self.capture, None)
        for _ in range(REHEARSALS):
            for code in REHEARSED:
                self.run(code)
            self.capture.add(Image.new("RGB", (8, 8)), "image")
        self.capture.begin()
        # What goes wrong here from now on is for whoever started the server, not for a session.
        sys.stdout, sys.stderr = streams

    def run_session(self, start):
        """In a session's process: never returns."""
        try:
            self.begin(start)
        except BaseException as error:
            failure = {"type": "openFailed", "message": f"{type(error).__name__}: {error}"}
            if isinstance(error, video.VideoError):
                failure["wrongVideo"] = str(error)
            start.sock.sendall(wire.encode(0, failure))
            os._exit(1)
        try:
            self.serve(start.mode)
        finally:
            os._exit(1)

    def begin(self, start):
        videos = video_files.mapped(start.videos)  # while their files can be seen
        self.confinement.enter(start.uid, start.scratch, start.process_limit, start.server_pid)
        os.chdir(start.scratch)
        if not self.confinement.has_namespaces:
            live_in(start.scratch)
        self.sock = start.sock
        self.repairs = Repairs(start.repairs)
        self.repairs.install()
        self.extras = Extras(start.capture, self.capture, start.scratch)
        seen = set()
        for name, image in start.images:
            if image is None:
                raise LookupError(f"the picture {name} could not be read")
            image = image.copy() if id(image) in seen else image
            seen.add(id(image))
            provenance.mark(image, name)
            self.namespace[name] = image
            self.extras.know(image)
        self.namespace.update(video.open_readers(videos, self.limits))

    def serve(self, mode):
        self.send({"type": "opened", "cpuMs": self.cpu_ms()})
        if mode != "persistent":
            Transactions(self, keeps_success=mode == "transactional").serve()
        buffer = wire.FrameBuffer()
        while True:
            frame = wire.read_blocking(self.sock, buffer)
            if frame is None:
                os._exit(0)
            _, blobs = wire.decode(frame[2], frame[1])
            result = self.execute(blobs[0].decode())
            self.send(result, self.capture.blobs)
            if result["kind"] == "memory":
                os._exit(0)

    def cpu_ms(self):
        return self.cpu_before + cpu_ms()

    def send(self, header, blobs=()):
        self.sock.sendall(wire.encode(0, header, blobs))

    def execute(self, code):
        self.confinement.limit_cpu(self.limits["cpuSeconds"])
        return self.run(code)

    def run(self, code):
        capture = self.capture
        capture.begin()
        self.repairs.begin()
        kind, error = "ok", None
        started = _clock()
        try:
            tree = self.repairs.parse(code, CODE_NAME)
            offence = self.check.first_offence(tree)
            if offence is None:
                pieces = self.extras.compile(tree, CODE_NAME)
            else:
                kind, error = "forbidden", forbidden_error(code, *offence)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as caught:
            kind, error = "exception", describe(caught, code, ())
        if kind == "ok":
            try:
                self.extras.begin()
                for piece in pieces:
                    exec(piece, self.namespace)
                self.extras.collect()
            except BaseException as caught:
                kind = "memory" if isinstance(caught, MemoryError) else "exception"
                error = describe(caught, code, set().union(*map(codes_of, pieces)))
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return {
            "type": "result",
            "kind": kind,
            "stdout": capture.stdout.text(),
            "stderr": capture.stderr.text(),
            "images": capture.images,
            "error": error,
            "truncated": capture.truncated(),
            "repairs": self.repairs.records,
            "wallMs": (_clock() - started) * 1000,
            "cpuMs": self.cpu_ms(),
            "maxRssKb": usage.ru_maxrss,
        }


def cpu_ms():
    """CPU time of this process and its ended children since its start."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
    return seconds * 1000


def codes_of(code):
    """The code object and all those inside it."""
    found = {code}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= codes_of(constant)
    return found


def shorten(text, limit):
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters left out ...]\n{text[-half:]}"


def describe(error, code, codes):
    """The exception as data; `codes` are the code objects of the submitted code."""
    try:
        message = str(error)
    except BaseException:
        message = "(its message could not be made)"
    try:
        line, text = trace(error, code.splitlines(), codes)
    except BaseException:  # too little memory, or an exception that breaks its own printing
        line, text = None, f"{type(error).__name__}: {message}\n"
    described = {
        "type": type(error).__name__,
        "message": shorten(message, MAX_MESSAGE),
        "traceback": shorten(text, MAX_TRACEBACK),
    }
    if line is not None:
        described["line"] = line
    return described


def trace(error, source, codes):
    """The line of the submitted code and the traceback without our own frames."""
    if isinstance(error, SyntaxError) and error.filename == CODE_NAME and not codes:
        text = "".join(traceback.format_exception_only(type(error), error))
        return error.lineno, text
    line = None
    for frame, number in traceback.walk_tb(error.__traceback__):
        if frame.f_code in codes:
            line = number
    report = traceback.TracebackException(type(error), error, error.__traceback__)
    clean(report, error, source, codes)
    return line, "".join(report.format())


def clean(report, error, source, codes):
    frames = []
    for frame, number in traceback.walk_tb(error.__traceback__):
        code = frame.f_code
        if os.path.dirname(code.co_filename) == _own_files:
            continue
        if code in codes:
            text = source[number - 1] if 0 < number <= len(source) else ""
        elif code.co_filename == CODE_NAME:
            text = ""  # from an earlier execution, whose lines are not kept
        else:
            text = None
        name = code.co_name
        frames.append(traceback.FrameSummary(code.co_filename, number, name, line=text))
    report.stack = traceback.StackSummary.from_list(frames)
    for link in ("__cause__", "__context__"):
        inner, cause = getattr(report, link), getattr(error, link)
        if inner is not None and cause is not None:
            clean(inner, cause, source, codes)


def forbidden_error(code, name, line):
    message = f"`{name}` is not allowed here: the code was not run. Do without it."
    lines = code.splitlines()
    shown = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    text = f'  File "{CODE_NAME}", line {line}\n    {shown}\nForbidden: {message}\n'
    return {"type": "Forbidden", "message": message, "line": line, "traceback": text}


def set_image_limit(pixels):
    """Opening a picture of more pixels raises instead of warning."""
    Image.MAX_IMAGE_PIXELS = pixels
    warnings.simplefilter("error", Image.DecompressionBombWarning)
