"""The list of system calls (system_calls.py) as a program for the kernel.

A binary search over the numbers, so that any call takes ten comparisons at most, and making the
kernel's own table of what is always allowed (which it does for every process) as few for each. Calls of
another architecture (32 bit, x32) end the process, because their numbers mean other things.
"""

import ctypes
import os
import struct
import sys

import system_calls
from call_rules import ENOSYS, EPERM, NoneOf

ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
X32 = 0x4000_0000
ALLOW = 0x7FFF_0000
ERRNO = 0x0005_0000
KILL_PROCESS = 0x8000_0000

# Offsets into struct seccomp_data; arguments are 64 bit, low half first.
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16

LOAD = 0x20  # BPF_LD | BPF_W | BPF_ABS
MASK = 0x54  # BPF_ALU | BPF_AND with a constant
JUMP = 0x05
EQUAL, AT_LEAST, ANY_BIT = 0x15, 0x35, 0x45  # BPF_JMP | BPF_JEQ, BPF_JGE, BPF_JSET with a constant
RETURN = 0x06
FARTHEST = 255  # that a conditional jump reaches

PR_GET_SECCOMP, PR_SET_SECCOMP = 21, 22
SECCOMP_MODE_FILTER = 2


def program(machine, has_network=False, has_metadata=True):
    """The filter for an architecture as bytes, or None for one we have no numbers of."""
    known = ARCHITECTURES.get(machine)
    if known is None or sys.byteorder != "little":
        return None
    column, architecture = known
    code = [
        (LOAD, 0, 0, ARCHITECTURE),
        (EQUAL, 1, 0, architecture),
        (RETURN, 0, 0, KILL_PROCESS),
        (LOAD, 0, 0, NUMBER),
    ]
    if machine == "x86_64":
        code += [(AT_LEAST, 0, 1, X32), (RETURN, 0, 0, KILL_PROCESS)]
    code += _search(_ranges(_answers(column, has_network, has_metadata)))
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in code)


def _answers(column, has_network, has_metadata):
    """The instructions for each listed number."""
    allow, refuse = ((RETURN, 0, 0, ALLOW),), ((RETURN, 0, 0, ERRNO | EPERM),)
    answers = {}
    for calls, answer in (
        (system_calls.ALLOWED, allow),
        (system_calls.METADATA, allow if has_metadata else refuse),
        (system_calls.NETWORK, allow if has_network else refuse),
        (system_calls.REFUSED, refuse),
    ):
        answers.update((numbers[column], answer) for numbers in calls.values())
    for name, (numbers, *rules) in system_calls.CHECKED.items():
        if has_network and name in system_calls.OF_NETWORK:
            rules = ()
        checks = tuple(step for rule in rules for step in _check(rule))
        answers[numbers[column]] = (*checks, *allow)
    answers.pop(None, None)
    return answers


def _check(rule):
    """Goes on behind itself where the argument is as the rule says, else returns."""
    place = ARGUMENTS + 8 * rule.argument
    refuse = (RETURN, 0, 0, ERRNO | rule.otherwise)
    if isinstance(rule, NoneOf):
        return ((LOAD, 0, 0, place), (ANY_BIT, 0, 1, rule.bits), refuse)
    steps = [(LOAD, 0, 0, place + 4), (EQUAL, 1, 0, 0), refuse] if rule.is_wide else []
    steps.append((LOAD, 0, 0, place))
    if rule.mask is not None:
        steps.append((MASK, 0, 0, rule.mask))
    count = len(rule.values)
    for index, value in enumerate(rule.values):
        steps.append((EQUAL, count - index, 0, value))
    return (*steps, refuse)


def _ranges(answers):
    """(first number, instructions) of each run of numbers with the same answer, ascending."""
    unknown = ((RETURN, 0, 0, ERRNO | ENOSYS),)
    ranges = [(0, unknown)]
    for number in sorted(answers):
        for first, answer in ((number, answers[number]), (number + 1, unknown)):
            if ranges[-1][0] == first:
                ranges.pop()
            if not ranges or ranges[-1][1] != answer:
                ranges.append((first, answer))
    return ranges


def _search(ranges):
    """Instructions that find the range of the number in the accumulator."""
    if len(ranges) == 1:
        return list(ranges[0][1])
    middle = len(ranges) // 2
    below, above = _search(ranges[:middle]), _search(ranges[middle:])
    pivot = ranges[middle][0]
    if len(below) <= FARTHEST:
        return [(AT_LEAST, len(below), 0, pivot), *below, *above]
    return [(AT_LEAST, 0, 1, pivot), (JUMP, 0, 0, len(below)), *below, *above]


class Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


class Filter:
    """Made once in the server; `apply` is for good, for the process and all its children."""

    def __init__(self, libc, has_network, has_metadata):
        self.libc = libc
        code = None
        if libc is not None and libc.prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0:
            code = program(os.uname().machine, has_network, has_metadata)
        self.code = None if code is None else ctypes.create_string_buffer(code, len(code))

    @property
    def is_known(self):
        return self.code is not None

    def apply(self):
        """Needs no_new_privs. Raises OSError where the kernel has no filters."""
        address = ctypes.cast(self.code, ctypes.c_void_p)
        held = Program(len(self.code) // 8, address)
        zero = ctypes.c_ulong(0)
        mode = ctypes.c_ulong(SECCOMP_MODE_FILTER)
        if self.libc.prctl(PR_SET_SECCOMP, mode, ctypes.byref(held), zero, zero) != 0:
            number = ctypes.get_errno()
            raise OSError(number, f"seccomp: {os.strerror(number)}")
