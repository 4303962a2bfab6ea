# SPDX-License-Identifier: Apache-2.0
"""The operations of a module as torch.export records them, at two batch sizes.

Two sizes identify the batch axis: a size is counted as A + B * BATCH if it is A + B * n at batch size n. Linear layers,
norms and attention remain whole. Operations in place become operations that return new tensors."""
import contextlib
import io
import itertools
import logging
import os
import sys
import traceback

import numpy as np
import torch

import mcz

from ..errors import Error, need
from ..evaluate import arguments, fit

SIZES = 3, 5  # the batch sizes
BATCH = 1000003  # a batch in sizes: a prime larger than any other factor of an axis


def encoded(a, b):
    """The size that is a and b at the two batch sizes."""
    slope, rest = divmod(b - a, SIZES[1] - SIZES[0])
    if rest == 0 and (slope == 0 or a - slope * SIZES[0] >= 0):
        return a - slope * SIZES[0] + slope * BATCH
    need(a % 9 == 0 and a // 9 * 25 == b, "a size is %d for %d inputs and %d for %d: not linear" % (a, SIZES[0], b, SIZES[1]))
    return a // 9 * BATCH ** 2


def size_at(size, n):
    """An encoded size at batch size n."""
    return sum(part * n ** k for k, part in enumerate((size % BATCH, size // BATCH % BATCH, size // BATCH ** 2)))


def resized(example, n, device):
    """The example with n inputs on a device: the first ones, repeated if there are fewer."""
    def one(x):
        if isinstance(x, torch.Tensor) and x.dim():
            need(len(x), "the example is an empty batch")
            x = x.detach()[torch.arange(n, device=x.device) % len(x)]
        return x.to(device) if isinstance(x, torch.Tensor) else x
    args, kwargs = arguments(example)
    arrays = [x for x in torch.utils._pytree.tree_leaves((args, kwargs)) if isinstance(x, np.ndarray)]
    need(not arrays, "tensors expected, got numpy arrays (use torch.from_numpy)")
    return tuple(map(one, args)), {k: one(v) for k, v in kwargs.items()}


def device_of(state):
    """The device of the tensors of a network, or the CPU if it has none."""
    return next((v.device for v in state.values() if isinstance(v, torch.Tensor)), torch.device("cpu"))


def form(example):
    """The arguments of an example as text: names, and shapes with N for the batch."""
    args, kwargs = arguments(example)
    return ", ".join((k + " (%s)" % ", ".join(map(str, ["N", *x.shape[1:]])) if isinstance(x, torch.Tensor) else
                      "%s %s" % (k, x)).strip() for k, x in [*zip([""] * len(args), args), *kwargs.items()])


@contextlib.contextmanager
def _whole_operations(net):
    """Exports whole operations in evaluation mode, without PyTorch's log of errors, which become exceptions."""
    level = logging.root.manager.disable
    fast, modes = torch.backends.mha.get_fastpath_enabled(), [(m, m.training) for m in net.modules()]
    torch.backends.mha.set_fastpath_enabled(False)
    logging.disable(logging.CRITICAL)
    net.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
        logging.disable(level)
        for m, training in modes:
            m.training = training


def export(net, example, n):
    """The ExportedProgram of a module in evaluation mode for n inputs. Raises Error if torch.export fails."""
    args, kwargs = resized(example, n, device_of(net.state_dict()))
    fit(net, args, kwargs)
    printed = io.StringIO()
    try:
        with _whole_operations(net), contextlib.redirect_stderr(printed):  # PyTorch prints the graph of a failed export
            program = torch.export.export(net, args, kwargs, strict=False).run_decompositions({})
    except Exception as e:
        if "DataDependent" in type(e).__name__:
            raise Error("torch.export cannot record a branch or a size that depends on data%s: declare the groups by hand" %
                        _line(e)) from None
        raise Error("torch.export cannot record the network: %s%s" % (brief(e), _hint(net, example, args, kwargs, e))) from None
    sys.stderr.write(printed.getvalue())
    return program


def brief(e):
    """An exception's type and first line, shortened."""
    text = next((line.strip() for line in str(e).splitlines() if line.strip()), "")
    return "%s: %s" % (type(e).__name__, text if len(text) <= 200 else text[:200].rpartition(". ")[0] or text[:200])


def _line(e):
    """" (FILE:LINE)" of the innermost code outside PyTorch and mcz that an exception passed, or ""."""
    libraries = tuple(os.path.dirname(os.path.abspath(m.__file__)) + os.sep for m in (torch, mcz))
    own = [f for f in traceback.extract_tb(e.__traceback__)
           if f.filename.endswith(".py") and not os.path.abspath(f.filename).startswith(libraries)]
    return " (%s:%d)" % (os.path.basename(own[-1].filename), own[-1].lineno) if own else ""


def _hint(net, example, args, kwargs, e):
    """The advice after torch.export failed, or ""."""
    if "Cache'>" in str(e):
        return " (set net.config.use_cache = False)"
    try:
        with _whole_operations(net):
            net(*args, **kwargs)
    except Exception:  # the network itself does not run
        return " (groups reads the first axis of each tensor as the batch; the example has shapes %s)" % ", ".join(
            str(tuple(x.shape)) for x in torch.utils._pytree.tree_leaves(arguments(example)) if isinstance(x, torch.Tensor))
    return ""


def inputs(program, state, example, n):
    """The arguments of the program's graph: the tensors of `state` if it has them, constants on their device, and the
    example's n inputs."""
    device = device_of(state)
    args, kwargs = resized(example, n, device)
    own, out = iter(torch.utils._pytree.tree_leaves((args, kwargs))), []
    for spec in program.graph_signature.input_specs:
        if spec.kind.name == "USER_INPUT":
            out.append(next(own))
        elif spec.target in state:
            out.append(state[spec.target])
        else:
            x = program.constants.get(spec.target, program.state_dict.get(spec.target))
            out.append(x.to(device))
    return out


class Runner(torch.fx.Interpreter):
    """Runs a program. keep(name): whether to keep the value of a node in `values`. double: compute in float64 what the
    network computes in float32. device: where operations create tensors; default: where they did when it was exported."""

    def __init__(self, program, keep=lambda name: False, double=False, device=None):
        super().__init__(program.graph_module, garbage_collect_values=True)
        self.keep, self.double, self.device, self.values = keep, double, device, {}

    def _own(self, v):
        if isinstance(v, torch.device):
            return self.device or v
        return torch.float64 if self.double and isinstance(v, torch.dtype) and v in FLOATS else v

    def call_function(self, target, args, kwargs):
        args, kwargs = torch.utils._pytree.tree_map(self._own, (args, kwargs))
        return super().call_function(target, args, kwargs)

    def run_node(self, n):
        if "_assert_" in str(n.target):
            return None
        value = super().run_node(n)
        if self.keep(n.name):
            self.values[n.name] = value
        return value


FLOATS = torch.float32, torch.float16, torch.bfloat16


def place(node):
    """The path of the module that a node is part of."""
    stack = list((node.meta.get("nn_module_stack") or {}).values())
    return stack[-1][0] if stack else ""


def named(node):
    """The module that a node is part of, for a message."""
    return "module \"%s\"" % place(node) if place(node) else "the network itself"


def pairs(programs):
    """The nodes of both programs, side by side."""
    a, b = (list(p.graph_module.graph.nodes) for p in programs)
    need(len(a) == len(b) and all(str(x.target) == str(y.target) for x, y in zip(a, b) if x.op == "call_function"),
         "the network runs other operations for another batch size")
    return itertools.zip_longest(a, b)
