"""The worker with every float32 made float64, also those that transformers writes itself.

What two processes compute differently then is a fault, not the rounding of sums in another order.
Run as `python -m tests.in_float64`, with the worker's arguments; bodies of requests stay float32.
"""

import sys

import torch

torch.float32 = torch.float64
torch.float = torch.float64
torch.Tensor.float = torch.Tensor.double
torch.set_default_dtype(torch.float64)

from saccade_worker.__main__ import main  # noqa: E402 - reads the names above

if __name__ == "__main__":
    sys.exit(main())
