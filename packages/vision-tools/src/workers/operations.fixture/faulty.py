"""Fails in the ways that workers must survive; for tests."""

import os
import sys
import time

import numpy as np
from declined import Declined


def run(params, images):
    kind = params["kind"]
    if kind == "echo":
        print("noise on standard output")
        return {"value": params.get("value"), "pid": os.getpid()}, images
    if kind == "sleep":
        time.sleep(params["seconds"])
        return {"pid": os.getpid()}, []
    if kind == "crash":
        os.kill(os.getpid(), 9)
    if kind == "crash-once":
        if not os.path.exists(params["mark"]):
            open(params["mark"], "w").close()
            os._exit(3)
        return {"survived": True}, []
    if kind == "garbage":
        for descriptor in range(3, 10):
            try:
                os.write(descriptor, b"\xff" * 64)
            except OSError:
                pass
        time.sleep(5)
    if kind == "memory":
        return {"size": np.ones((params["megabytes"], 1 << 20), np.uint8).nbytes}, []
    if kind == "declined":
        raise Declined("CannotAnswer", "It does not know. Ask another.")
    if kind == "nan":
        return {"value": float("nan")}, []
    if kind == "spin":
        while True:
            pass
    raise ValueError(f"no {kind}")
