"""Files that Node found for the operations: weights and word lists."""

_paths = {}


def set_assets(paths):
    """Called once by the worker, before any operation is loaded."""
    _paths.update(paths)


def asset(name):
    """The path of a file or folder, e.g. `asset("ocr")`. Raises KeyError naming the known."""
    if name not in _paths:
        raise KeyError(f"there is no asset {name}; known: {', '.join(sorted(_paths))}")
    return _paths[name]
