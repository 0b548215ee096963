"""Copies of files where the kernel refuses to change modes and times: they keep what they were made with."""

import functools
import shutil


def forgive_refused_metadata():
    """From now on `shutil` copies what it may, instead of failing after it has copied the contents."""
    shutil.copymode = _forgiving(shutil.copymode)
    shutil.copystat = _forgiving(shutil.copystat)


def _forgiving(copy):
    @functools.wraps(copy)
    def run(*arguments, **options):
        try:
            copy(*arguments, **options)
        except PermissionError:
            pass

    return run
