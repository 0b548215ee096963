"""One worker: reads a request, runs its operation, writes the reply; one at a time.

    python worker.py '{"folders": [], "assets": {}, "memoryMb": 2048, "threads": 1, "maxPixels": 4e7}'

A request is a frame {id, operation, params} with PNG images as blobs, or {id, warm: operation}. A
reply is {id, ok: true, result, sizes, ms, cpuMs} with PNG images as blobs, or {id, ok: false, fault, type,
message, trace}. The operation `name` is `run` of `operations/name.py`, which is loaded on first use;
its `warm()`, where it has one, loads weights. The worker ends when its input does, so that none
outlives Node, whatever ends that.
"""

import importlib
import json
import os
import queue
import re
import sys
import threading
import time
import traceback

NAME = re.compile(r"[a-z][a-z0-9_]*")


def take_streams():
    """The pipes to Node; whatever operations print goes to the log instead."""
    source = os.fdopen(os.dup(0), "rb", buffering=1 << 16)
    sink = os.fdopen(os.dup(1), "wb", buffering=0)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    return source, sink


def limit_memory(megabytes):
    try:
        import resource
    except ImportError:  # no limits of this kind on Windows
        return
    # Private writable memory. The address space would also count mapped libraries and the stacks
    # that threads only reserve.
    size = int(megabytes) << 20
    resource.setrlimit(resource.RLIMIT_DATA, (size, size))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def read_requests(source, requests):
    """Runs in a thread, to see the end of the input also while an operation works."""
    from frames import read_frame

    try:
        while (frame := read_frame(source)) is not None:
            requests.put(frame)
    finally:
        os._exit(0)


def write(sink, pieces):
    for piece in pieces:
        view = memoryview(piece)
        while view:
            view = view[sink.write(view) :]


def operation_module(name):
    if NAME.fullmatch(name) is None:
        raise ValueError(f"{name!r} is no name of an operation")
    return importlib.import_module(f"operations.{name}")


def answer(header, blobs, max_pixels):
    """The reply's header and blobs. Raises what the operation raises."""
    import png_images

    began, worked = time.perf_counter(), time.process_time()
    if "warm" in header:
        module = operation_module(header["warm"])
        if hasattr(module, "warm"):
            module.warm()
        result, images = None, []
    else:
        module = operation_module(header["operation"])
        given = [png_images.decode(blob, max_pixels) for blob in blobs]
        result, images = module.run(header["params"], given)
    encoded = [png_images.encode(image) for image in images]
    sizes = [[image.shape[1], image.shape[0]] for image in images]
    ms = (time.perf_counter() - began) * 1000
    # CPU time of all threads: the cost of a call, whatever else the machine does.
    cpu_ms = (time.process_time() - worked) * 1000
    return {"ok": True, "result": result, "sizes": sizes, "ms": ms, "cpuMs": cpu_ms}, encoded


def fault_of(error):
    from declined import Declined

    if isinstance(error, Declined):
        fault, kind, message = "declined", error.type, error.message
    else:
        # OpenCV says it in words only: (-4:Insufficient memory) Failed to allocate …
        is_memory = isinstance(error, MemoryError) or "Insufficient memory" in str(error)
        fault, kind, message = "memory" if is_memory else "error", type(error).__name__, str(error)
    trace = "".join(traceback.format_exception(error))[-4000:]
    return {"ok": False, "fault": fault, "type": kind, "message": message[:2000], "trace": trace}


def serve(source, sink, max_pixels):
    import frames

    requests = queue.Queue(maxsize=2)
    threading.Thread(target=read_requests, args=(source, requests), daemon=True).start()
    while True:
        header, blobs = requests.get()
        try:
            reply, encoded = answer(header, blobs, max_pixels)
            pieces = frames.encode({"id": header["id"], **reply}, encoded)
        except Exception as error:
            pieces = frames.encode({"id": header["id"], **fault_of(error)})
        write(sink, pieces)
        del header, blobs, pieces


def main():
    source, sink = take_streams()
    config = json.loads(sys.argv[1])
    limit_memory(config["memoryMb"])
    import cv2
    import frames
    import operations
    from assets import set_assets

    cv2.setNumThreads(int(config["threads"]))
    cv2.ocl.setUseOpenCL(False)
    set_assets(config["assets"])
    operations.__path__.extend(config["folders"])
    write(sink, frames.encode({"ready": True, "opencv": cv2.__version__}))
    serve(source, sink, int(config["maxPixels"]))


if __name__ == "__main__":
    main()
