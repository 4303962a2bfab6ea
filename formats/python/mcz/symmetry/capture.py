# SPDX-License-Identifier: Apache-2.0
"""The operations of a module as torch.export records them, at two batch sizes.

Two sizes identify the batch axis: a size is counted as A + B * BATCH if it is A + B * n at batch size n. Linear layers,
norms and attention remain whole. Operations in place become operations that return new tensors."""
import contextlib
import itertools

import torch

from ..errors import Error, need

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


def arguments(example):
    """The (args, kwargs) of an example."""
    if isinstance(example, dict):
        return (), dict(example)
    return (tuple(example) if isinstance(example, (tuple, list)) else (example,)), {}


def resized(example, n):
    """The example with n inputs: the first ones, repeated if there are fewer."""
    def one(x):
        if isinstance(x, torch.Tensor) and x.dim():
            return x.detach()[torch.arange(n, device=x.device) % len(x)]
        return x
    args, kwargs = arguments(example)
    return tuple(map(one, args)), {k: one(v) for k, v in kwargs.items()}


@contextlib.contextmanager
def _whole_operations(net):
    fast, modes = torch.backends.mha.get_fastpath_enabled(), [(m, m.training) for m in net.modules()]
    torch.backends.mha.set_fastpath_enabled(False)
    net.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
        for m, training in modes:
            m.training = training


def export(net, example, n):
    """The ExportedProgram of a module in evaluation mode for n inputs. Raises Error if torch.export fails."""
    args, kwargs = resized(example, n)
    try:
        with _whole_operations(net):
            return torch.export.export(net, args, kwargs, strict=False).run_decompositions({})
    except Exception as e:
        text = next((line.strip() for line in str(e).splitlines() if line.strip()), "")
        if "DataDependent" in type(e).__name__:
            raise Error("torch.export cannot record a branch or a size that depends on data: declare the groups by hand") from None
        raise Error("torch.export cannot record the network: %s: %s" % (type(e).__name__, text[:200])) from None


def inputs(program, state, example, n):
    """The arguments of the program's graph: the tensors of `state` where it has them, and the example's n inputs."""
    args, kwargs = resized(example, n)
    own, out = iter(torch.utils._pytree.tree_leaves((args, kwargs))), []
    for spec in program.graph_signature.input_specs:
        if spec.kind.name == "USER_INPUT":
            out.append(next(own))
        elif spec.target in state:
            out.append(state[spec.target])
        else:
            out.append(program.constants.get(spec.target, program.state_dict.get(spec.target)))
    return out


class Runner(torch.fx.Interpreter):
    """Runs a program. keep(name): whether to keep the value of a node in `values`. double: compute in float64 what the
    network computes in float32."""

    def __init__(self, program, keep=lambda name: False, double=False):
        super().__init__(program.graph_module, garbage_collect_values=True)
        self.keep, self.double, self.values = keep, double, {}

    def call_function(self, target, args, kwargs):
        if self.double:
            args, kwargs = torch.utils._pytree.tree_map(
                lambda v: torch.float64 if v in FLOATS else v, (args, kwargs), is_leaf=lambda v: isinstance(v, torch.dtype))
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


def pairs(programs):
    """The nodes of both programs, side by side."""
    a, b = (list(p.graph_module.graph.nodes) for p in programs)
    need(len(a) == len(b) and all(str(x.target) == str(y.target) for x, y in zip(a, b) if x.op == "call_function"),
         "the network runs other operations for another batch size")
    return itertools.zip_longest(a, b)
