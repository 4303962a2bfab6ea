# SPDX-License-Identifier: Apache-2.0
"""One rule per PyTorch operation: how the axes of its outputs follow from those of its inputs.

A rule is a function of an Operation and of those arguments of the operation that it reads. It
returns the axes of the output, or a list of such for several outputs. An operation without a rule
fixes all axes of its inputs. Each rule may only say what is true of the operation for all values
and settings. ../README.md says how to write one."""

from . import (  # noqa: F401  (each registers its rules)
    attention,
    constants,
    convolution,
    elementwise,
    indexing,
    linear,
    norm,
    parts,
    recurrent,
    reduction,
    sequence,
    shape,
    sorting,
)
from .apply import apply
from .operation import ROWS, RULES, Axes, Operation, Value, kind_of

__all__ = ["ROWS", "RULES", "Axes", "Operation", "Value", "apply", "kind_of"]
