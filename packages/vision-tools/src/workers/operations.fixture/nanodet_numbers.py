"""Some outputs of NanoDet for noise, to compare with those of its source; for tests."""

import numpy as np
from operations import detect


def run(params, images):
    noise = np.random.RandomState(0).randn(1, 3, 416, 416).astype(np.float32)
    net = detect.network()
    net.setInput(noise)
    names = net.getUnconnectedOutLayersNames()
    outputs = dict(zip(names, net.forward(names)))
    return {name: outputs[name][0, row, column] for name, row, column in params["at"]}, []
