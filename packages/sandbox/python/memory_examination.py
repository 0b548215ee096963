"""Tries whether a session's memory is limited as a whole: by more processes, and more files, than fit."""

import os
import signal
import socket

import guard
from control_groups import LIMIT
from examination import opens, user
from processes import session_directory

PIECE = 8 * 1024 * 1024
# Files smaller than this are lost in what the kernel needs besides.
LEAST_FILE = 2 * 1024 * 1024
HELD = "held"
# On a busy machine a try can fail although the limit holds; the reverse is not possible.
TRIES = 2


def examine_memory(config, confinement, process_limit, groups):
    """The part of the report on memory. Where the limit does not hold, the groups are given up."""
    if groups.folder is not None:
        for _ in range(TRIES):
            try:
                obstacle = _try_limits(config, confinement, process_limit, groups)
            except (OSError, ValueError) as error:
                obstacle = str(error)
            if obstacle is None:
                break
        if obstacle is not None:
            groups.give_up(f"Control groups do not limit sessions here: {obstacle}.")
    if groups.folder is not None:
        return {"limitsMemory": True}
    return {"limitsMemory": False, "memoryObstacle": groups.obstacle}


def _try_limits(config, confinement, process_limit, groups):
    """Why the limit does not hold; None if it does."""
    group = groups.make("examined", groups.limit)
    limits = config["limits"]
    file_size = 0
    if confinement.has_namespaces:  # else files are on a disk
        file_size = int(min(PIECE, limits["fileBytes"], limits["diskBytes"] / 2))
    ours, theirs = socket.socketpair()
    server = os.getpid()
    directory = session_directory(config, "examined-memory", confinement.has_namespaces)
    uid = user(config, 0)
    if not confinement.has_namespaces:
        os.makedirs(directory, mode=0o711, exist_ok=True)
    pid = confinement.fork(uid, group=group)
    if pid == 0:
        verdict = ""
        try:
            ours.close()
            confinement.enter(uid, directory, max(3, process_limit), server)
            verdict = _exceed(theirs, groups, directory, file_size)
        except BaseException as error:
            verdict = f"{type(error).__name__}: {error}"
        finally:
            theirs.sendall(verdict.encode())
            os._exit(0)
    theirs.close()
    try:
        for extra in (PIECE // 2, file_size // 2):
            if ours.recv(1, socket.MSG_PEEK) != b"?":
                break
            ours.recv(1)
            group.set_limit(group.usage() + PIECE + extra)
            ours.sendall(b"!")
        with ours.makefile() as words:
            verdict = words.read()
    finally:
        ours.close()
        os.waitpid(pid, 0)
        hits = group.was_hit()
        group.remove()
    if verdict != HELD:
        return verdict or "the session's process was ended too"
    return None if hits else "the kernel does not count what it ends"


def _exceed(server, groups, directory, file_size):
    """In a session's process. `server` sets the limit to what is held, a piece, and half of more."""
    if opens(os.path.join(groups.folder, "examined", LIMIT[groups.version]), os.O_WRONLY):
        return "code can change the limit of its own group"
    _ask_for_limit(server)
    if _survivors(2) != 1:
        return "processes are not limited together"
    _ask_for_limit(server)
    if file_size < LEAST_FILE:
        return HELD
    if _survivors(1) != 1:
        return "the limit ends processes that are within it"
    with open(os.path.join(directory, "large"), "wb") as file:
        file.write(bytes(file_size))
    return HELD if _survivors(1) == 0 else "files in memory are not counted"


def _ask_for_limit(server):
    server.sendall(b"?")
    server.recv(1)


def _survivors(count):
    """How many of `count` processes that hold a piece of memory each live at the same time."""
    started = [_start_holder() for _ in range(count)]
    alive = 0
    for pid, question, answer in started:
        try:  # whom the kernel ends runs no more of its code, and answers nothing
            os.write(question, b"?")
            alive += os.read(answer, 1) != b""
        except BrokenPipeError:
            pass
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(question)
        os.close(answer)
    return alive


def _start_holder():
    question_in, question = os.pipe()
    answer, answer_out = os.pipe()
    pid = os.fork()
    if pid == 0:
        guard.prctl(guard.PR_SET_PDEATHSIG, signal.SIGKILL)
        held = b"\1" * PIECE
        os.write(answer_out, held[:1])
        os.read(question_in, 1)
        os.write(answer_out, held[:1])
        signal.pause()
    os.close(question_in)
    os.close(answer_out)
    os.read(answer, 1)  # it has its memory, or is dead
    return pid, question, answer
