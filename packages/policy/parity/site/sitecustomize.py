"""Python runs this first where the folder is on its path: see torchvision_ops.py."""
import torchvision_ops  # noqa: F401
