"""The process of one session: runs the code it is sent in one namespace and reports how it went."""

import builtins
import io
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
import shared_memory
import video_files
from extras import Extras
from processes import REPLIES_FD, REQUESTS_FD
from repairs import Repairs
from session_wire import FAILED, OPENED, REFUSED, RESULT, SessionSide
from static_check import StaticCheck
from transactions import Transactions

CODE_NAME = "<code>"
# Code that leaves nothing behind, and how often the interpreter has to see it before it changes no more.
REHEARSED = ("print(1)", "1 / 0")
REHEARSALS = 20
MAX_NAME = 1024
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


class WrongInput(Exception):
    """An image or a video that cannot be given to the session's code; `described` says which and why."""

    def __init__(self, described):
        super().__init__(described)
        self.described = described


def open_image(name, number, index):
    """The image behind a descriptor, which is closed. Raises WrongInput."""
    try:
        image = Image.open(io.BytesIO(shared_memory.read_whole(number)))
        image.load()
    except Exception as error:
        message = shorten(f"{type(error).__name__}: {error}", MAX_MESSAGE)
        raise WrongInput({"image": index, "message": message}) from error
    os.close(number)
    provenance.mark(image, name)
    return image


class Worker:
    """Made in the server, all but what differs between sessions: what is not done in a session's process
    touches none of the pages it shares, and touching one costs as much as a thousand instructions.
    """

    def __init__(self, config, template, capture, confinement):
        self.confinement = confinement
        self.limits = config["limits"]
        self.capture = capture
        self.check = StaticCheck(config["forbidden"])
        self.repairs = self.extras = self.link = None
        # Whether submitted code may have run in it.
        self.is_open = False
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
        attributes, specialized instructions) is then in pages that all sessions share.
        """
        streams = sys.stdout, sys.stderr
        self.repairs, self.extras = Repairs({}), Extras({}, self.capture, None)
        for _ in range(REHEARSALS):
            for code in REHEARSED:
                self.run(code)
            self.capture.add(Image.new("RGB", (8, 8)), "image")
        for kind in ("PNG", "JPEG"):
            drawn = io.BytesIO()
            Image.new("RGB", (8, 8)).save(drawn, kind)
            Image.open(drawn).load()
        self.capture.begin()
        # Errors from here on are for whoever started the server, not for a session.
        sys.stdout, sys.stderr = streams

    def run_session(self, start):
        """In a session's process: never returns."""
        try:
            self.link = SessionSide(REQUESTS_FD, REPLIES_FD, start.memory)
            mode = self.begin(start)
            self.serve(mode)
        except WrongInput as error:
            self.link.reply(REFUSED, error.described)
        except BaseException as error:
            self.fail(error)
        finally:
            os._exit(1)

    def fail(self, error):
        if self.link is not None and not self.is_open:
            message = shorten(f"{type(error).__name__}: {error}", MAX_MESSAGE)
            self.link.reply(FAILED, {"message": message})

    def begin(self, start):
        """The session's mode. What is the tenant's own is read last, behind the walls."""
        videos = [video_files.map_descriptor(number) for number in start.videos]
        self.confinement.enter(start.uid, start.scratch, start.process_limit, start.server_pid)
        os.chdir(start.scratch)
        if not self.confinement.has_namespaces:
            live_in(start.scratch)
        request = self.link.next()
        if request is None:
            os._exit(0)  # the server is gone
        wanted = request[0]
        self.repairs = Repairs(wanted["repairs"])
        self.repairs.install()
        self.extras = Extras(wanted["capture"], self.capture, start.scratch)
        for index, (name, number) in enumerate(zip(wanted["images"], start.images, strict=True)):
            image = self.namespace[name] = open_image(name, number, index)
            self.extras.know(image)
        for number in start.videos:
            os.close(number)
        films = dict(zip(wanted["videos"], videos, strict=True))
        try:
            self.namespace.update(video.open_readers(films, self.limits))
        except video.VideoError as error:
            raise WrongInput({"video": shorten(str(error), MAX_MESSAGE)}) from error
        return wanted["mode"]

    def serve(self, mode):
        self.is_open = True
        self.link.reply(OPENED, {"cpuMs": self.cpu_ms()})
        if mode != "persistent":
            Transactions(self, keeps_success=mode == "transactional").serve()
        while (request := self.link.next()) is not None:
            result = self.execute(request[1].decode())
            self.link.reply(RESULT, result, self.capture.blobs)
            if result["kind"] == "memory":
                break
        os._exit(0)

    def cpu_ms(self):
        return self.cpu_before + cpu_ms()

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
            offense = self.check.first_offense(tree)
            if offense is None:
                pieces = self.extras.compile(tree, CODE_NAME)
            else:
                kind, error = "forbidden", forbidden_error(code, *offense)
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
        "type": shorten(type(error).__name__, MAX_NAME),
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
    """Opening an image of more pixels raises instead of warning."""
    Image.MAX_IMAGE_PIXELS = pixels
    warnings.simplefilter("error", Image.DecompressionBombWarning)
