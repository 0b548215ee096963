"""Keeps the fork hooks of libraries (`random` seeds itself, `logging` renews its locks) out of our forks.

Each of these hooks writes to objects all over the memory: together they were a third of the pages that
a session's process copies between its start and its end. It needs none of them: the server has one
thread, forks with no lock held, and leaves the random state as it is to be. In forks that submitted
code makes, all of them run.

Imported before everything that registers hooks; `stop_watching` when all libraries are loaded.
"""

import os

_register = os.register_at_fork
_is_ours = False


def _register_for_others(**hooks):
    _register(**{when: _unless_ours(hook) for when, hook in hooks.items()})


def _unless_ours(hook):
    def run():
        if not _is_ours:
            hook()

    return run


def stop_watching():
    os.register_at_fork = _register


class NoHooks:
    """Forks within `with no_hooks` run none, in neither process."""

    def __enter__(self):
        global _is_ours
        _is_ours = True

    def __exit__(self, *_):
        global _is_ours
        _is_ours = False


no_hooks = NoHooks()
os.register_at_fork = _register_for_others
