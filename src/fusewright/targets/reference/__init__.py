"""The definition that runs: recorded programs computed by plain NumPy, one node at a time."""

from fusewright.targets.reference.interpreter import evaluate

__all__ = ["evaluate"]
