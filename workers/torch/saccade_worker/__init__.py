"""Serves a transformers model as Saccade's learner, over HTTP, sharded by FSDP2."""

__version__ = "0.1.0"
