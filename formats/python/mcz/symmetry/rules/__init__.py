# SPDX-License-Identifier: Apache-2.0
"""One rule per PyTorch operation: how the axes of its outputs follow from those of its inputs
(axes.py).

A rule gets a Call and returns the axes of the output, or a list of such for several outputs. An
operation without a rule fixes all axes of its inputs. Each rule may only say what is true of the
operation for all values and settings."""

from . import elementwise, indexing, layers, norms, recurrent, shapes
from .call import ROWS, Axes, Call, Value, apply, uniform

__all__ = [
    "ROWS",
    "Axes",
    "Call",
    "Value",
    "apply",
    "elementwise",
    "indexing",
    "layers",
    "norms",
    "recurrent",
    "shapes",
    "uniform",
]
