# SPDX-License-Identifier: Apache-2.0
"""The operations of a module as torch.export records them, at two batch sizes.

Two sizes identify the batch axis: a size is counted as A + B * BATCH if it is A + B * n at batch
size n. Linear layers, norms and attention remain whole. Operations in place become operations that
return new tensors."""

from __future__ import annotations

import contextlib
import gc
import io
import itertools
import logging
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.export import ExportedProgram

from ..errors import Error, need
from ..nn.batches import shown
from ..nn.inputs import arguments, brief, call, code_line
from ..nn.state import device_of, tensors_of
from ..nn.unchanged import OWN, Snapshot, entries, evaluating

SIZES = 3, 5  # the batch sizes
BATCH = 1000003  # a batch in sizes: a prime larger than any other factor of an axis


def encoded(a: int, b: int) -> int:
    """The size that is a and b at the two batch sizes."""
    slope, rest = divmod(b - a, SIZES[1] - SIZES[0])
    if rest == 0 and (slope == 0 or a - slope * SIZES[0] >= 0):
        return a - slope * SIZES[0] + slope * BATCH
    need(
        a % 9 == 0 and a // 9 * 25 == b,
        f"a size is {a} for {SIZES[0]} inputs and {b} for {SIZES[1]}: not linear",
    )
    return a // 9 * BATCH**2


def size_at(size: int, n: int) -> int:
    """An encoded size at batch size n."""
    return sum(
        part * n**k
        for k, part in enumerate((size % BATCH, size // BATCH % BATCH, size // BATCH**2))
    )


def resized(example: Any, n: int, device: torch.device) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The example with n inputs on a device: the first ones, repeated if there are fewer."""

    def one(x: Any) -> Any:
        if isinstance(x, torch.Tensor) and x.dim():
            need(len(x), "the example is an empty batch")
            x = x.detach()[torch.arange(n, device=x.device) % len(x)]
        return x.to(device) if isinstance(x, torch.Tensor) else x

    args, kwargs = arguments(example)
    arrays = [
        x for x in torch.utils._pytree.tree_leaves((args, kwargs)) if isinstance(x, np.ndarray)
    ]
    need(not arrays, "tensors expected, got numpy arrays (use torch.from_numpy)")
    return tuple(map(one, args)), {k: one(v) for k, v in kwargs.items()}


@contextlib.contextmanager
def _whole_operations(net: nn.Module) -> Iterator[Snapshot]:
    """Exports whole operations in evaluation mode, without PyTorch's log of errors, which become
    exceptions. Yields a Snapshot of the network."""
    with evaluating(net) as before, torch.no_grad():
        level, fast, collecting = (
            logging.root.manager.disable,
            torch.backends.mha.get_fastpath_enabled(),
            gc.isenabled(),
        )
        torch.backends.mha.set_fastpath_enabled(False)
        logging.disable(logging.CRITICAL)
        gc.disable()  # it takes a seventh of an export's time
        try:
            yield before
        finally:
            torch.backends.mha.set_fastpath_enabled(fast)
            logging.disable(level)
            if collecting:
                gc.enable()


def _recorded(net: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> ExportedProgram:
    """The program of a call, without decomposing operations."""
    own: Any = torch.export.export(net, args, kwargs, strict=False)
    program: ExportedProgram = own.run_decompositions({})
    return program


def export(net: nn.Module, example: Any, n: int, twice: bool = False) -> ExportedProgram:
    """The ExportedProgram of a module in evaluation mode for n inputs. Raises Error if the module
    does not run or torch.export fails. twice: raises Error if a call changes attributes such that
    the next one differs."""
    args, kwargs = resized(example, n, device_of(tensors_of(net)))
    fails = None
    # caches that mcz cannot see keep real tensors, not those of torch.export
    with evaluating(net), torch.no_grad():
        try:
            call(
                net,
                kwargs or args,
                hint=" (groups reads the first axis of each tensor as the batch)",
            )
        except Error as e:
            fails = e
    printed = io.StringIO()
    try:
        # PyTorch prints the graph of a failed export, and asks for buffers where mcz compares two
        # calls itself
        with (
            _whole_operations(net) as before,
            contextlib.redirect_stderr(printed),
            warnings.catch_warnings(),
        ):
            warnings.filterwarnings("ignore", "The tensor attribute")
            left: dict[
                tuple[nn.Module, str], Any
            ] = {}  # what the call leaves in attributes; torch.export undoes some of it

            def keep(m: Any, x: Any, y: Any) -> None:
                left.update(_left(before))

            with net.register_forward_hook(keep):
                program = _recorded(net, args, kwargs)
            if twice and left:
                kept = _keep(left)
                _same_call(program, _recorded(net, args, kwargs), kept)
    except Error:
        raise
    except Exception as e:
        if "DataDependent" in type(e).__name__:
            raise Error(
                "torch.export cannot record a branch or a size that depends on data"
                f"{code_line(e)}: declare the groups by hand"
            ) from None
        if fails:
            raise fails from None
        hint = " (set net.config.use_cache = False)" * ("Cache'>" in str(e))
        raise Error(f"torch.export cannot record the network: {brief(e)}{hint}") from None
    sys.stderr.write(printed.getvalue())
    return program


def _left(before: Snapshot) -> dict[tuple[nn.Module, str], Any]:
    """{(module, attribute): value} of the attributes that changed, if they were not deleted."""
    return {(m, k): vars(m)[k] for m, k in before.changed() if k not in OWN and k in vars(m)}


def _keep(left: Mapping[tuple[nn.Module, str], Any]) -> dict[int, str]:
    """Sets attributes to these values, with zeros instead of the tensors of torch.export. Returns
    {address: attribute}."""
    found = {}
    for (m, k), value in left.items():
        own = entries(value)

        def one(v: Any, k: str = k) -> Any:
            if not isinstance(v, torch.Tensor):
                return v
            new = torch.zeros(v.shape, dtype=v.dtype, device=v.device)
            found[new.data_ptr()] = k
            return new

        if own is not None and own is not value:  # an object
            own.update(torch.utils._pytree.tree_map(one, own))
        vars(m)[k] = torch.utils._pytree.tree_map(one, value)
    return found


def _same_call(first: ExportedProgram, second: ExportedProgram, kept: Mapping[int, str]) -> None:
    """Raises Error if the second of two calls reads what the first left in attributes, or runs
    other operations. kept: {address of a tensor: attribute}"""
    read = [
        kept[v.data_ptr()]
        for v in second.constants.values()
        if isinstance(v, torch.Tensor) and v.data_ptr() in kept
    ]
    need(
        not read,
        'forward keeps a tensor for the next call in the attribute "{}" '
        "(register it as a buffer)".format("".join(read[:1])),
    )
    other = different(first, second)
    need(not other, f"the second call runs other operations than the first: {other}")


def _text(value: Any) -> Any:
    """An argument of an operation, to compare programs."""
    if isinstance(value, (list, tuple)):
        return [_text(v) for v in value]
    return "" if isinstance(value, (torch.dtype, torch.device)) else str(value)


def different(first: ExportedProgram, second: ExportedProgram) -> str:
    """The first operation in which two programs differ, as text, or ""."""
    a, b = (
        [n for n in p.graph_module.graph.nodes if n.op != "placeholder"] for p in (first, second)
    )
    for x, y in itertools.zip_longest(a, b):
        if x is None or y is None:
            return f"{_shown(x or y)} only in one of them"
        if (
            str(x.target) != str(y.target)
            or _text(x.args) != _text(y.args)
            or _text(list(x.kwargs.items())) != _text(list(y.kwargs.items()))
        ):
            return f"{_shown(x)} and {_shown(y)}"
    return ""


def _shown(node: torch.fx.Node) -> str:
    """An operation with the numbers among its arguments, for a message."""
    own = [
        str(v)
        for v in [*node.args, *node.kwargs.values()]
        if isinstance(v, (int, float, str, list))
    ]
    at = " in " + place(node) if place(node) else ""
    return "{}{}{}".format(
        getattr(node.target, "_opname", node.name),
        " ({})".format(", ".join(own)[:60]) if own else "",
        at,
    )


def record(
    net: nn.Module, example: Any, progress: str = ""
) -> tuple[ExportedProgram, ExportedProgram]:
    """The programs of a network at both batch sizes. progress: the text of a progress bar, if
    any."""
    first, second = (export(net, example, n, twice=n == SIZES[0]) for n in shown(SIZES, progress))
    return first, second


def separate(program: ExportedProgram, state: Mapping[str, torch.Tensor]) -> None:
    """Raises Error if a constant shares memory with a tensor of the state_dict, because an order
    would move it too."""
    own = {v.untyped_storage().data_ptr(): k for k, v in state.items() if v.numel()}
    for k, v in constants(program, state).items():
        shared = v.numel() and own.get(v.untyped_storage().data_ptr())
        name = "" if k.startswith("lifted_tensor") else f' "{k}"'  # torch.export's own name
        need(
            not shared,
            f'a plain attribute{name} shares the memory of "{shared}" (clone a constant; keep '
            "parameters in nn.ParameterList or nn.ParameterDict)",
        )


def constants(program: ExportedProgram, state: Iterable[str]) -> dict[str, torch.Tensor]:
    """{attribute: tensor} of the tensors that a program reads and the state_dict lacks. Batch
    norm's counter is not read."""
    read = {n.name for n in program.graph_module.graph.nodes if n.op == "placeholder" and n.users}
    specs = [
        s
        for s in program.graph_signature.input_specs
        if s.kind.name != "USER_INPUT" and s.arg.name in read
    ]
    targets = {s.target for s in specs} - set(state)
    found = {k: program.constants.get(k, program.state_dict.get(k)) for k in targets}
    return {k: v for k, v in sorted(found.items()) if isinstance(v, torch.Tensor)}


def inputs(
    program: ExportedProgram,
    state: Mapping[str, Any],
    example: Any,
    n: int,
    device: torch.device | None = None,
) -> list[Any]:
    """The arguments of the program's graph on a device, by default that of `state`: the tensors of
    `state` if it has them, constants, and the example's n inputs."""
    device = device or device_of(state)
    own = iter(torch.utils._pytree.tree_leaves(resized(example, n, device)))
    # the graph reads no other constants
    fixed = {k: v.to(device) for k, v in constants(program, state).items()}
    return [
        next(own) if s.kind.name == "USER_INPUT" else state.get(s.target, fixed.get(s.target))
        for s in program.graph_signature.input_specs
    ]


class Lazy:
    """A tensor of a network that each operation makes when it reads it, so that few exist at
    once."""

    def __init__(self, make: Callable[[], torch.Tensor]) -> None:
        self.make = make


def doubled(x: Any) -> Any:
    """A tensor of real or complex numbers in double precision, or the dtype of it. Anything else is
    unchanged."""
    dtype = x.dtype if isinstance(x, torch.Tensor) else x
    if not isinstance(dtype, torch.dtype) or not (dtype.is_floating_point or dtype.is_complex):
        return x
    wide = torch.promote_types(dtype, torch.float64)
    return x.to(wide) if isinstance(x, torch.Tensor) else wide


class Runner(torch.fx.Interpreter):
    """Runs a program. Its inputs may be Lazy. keep(name): whether to keep the value of a node in
    `values`. double: compute in float64 what the network computes in float32. device: where
    operations create tensors; default: where they did when it was exported."""

    def __init__(
        self,
        program: ExportedProgram,
        keep: Callable[[str], bool] = lambda name: False,
        double: bool = False,
        device: torch.device | None = None,
    ) -> None:
        super().__init__(program.graph_module, garbage_collect_values=True)
        self.program, self.keep, self.double, self.device = program, keep, double, device
        self.values: dict[str, Any] = {}

    def outputs(self, state: Mapping[str, Any], example: Any, n: int) -> Any:
        """The outputs for the tensors of `state` and n inputs of an example."""
        own = inputs(self.program, state, example, n, self.device)
        return self.run(*(map(doubled, own) if self.double else own))

    def _own(self, v: Any) -> Any:
        if isinstance(v, torch.device):
            return self.device or v
        # operations may create tensors of the default dtype
        return doubled(v) if self.double else v

    def map_nodes_to_values(self, args: Any, n: torch.fx.Node) -> Any:
        """The arguments of a node, with Lazy tensors made."""
        values = super().map_nodes_to_values(args, n)
        return torch.utils._pytree.tree_map(
            lambda v: v.make() if isinstance(v, Lazy) else v, values
        )

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        """Runs an operation."""
        args, kwargs = torch.utils._pytree.tree_map(self._own, (args, kwargs))
        # attention's outputs have other strides if gradients are needed
        if target is torch.ops.aten.view.default:
            target = torch.ops.aten.reshape.default
        # of a transposed input, PyTorch makes a small product for each index of its first axis
        if "linear" in str(target):
            args = [args[0].contiguous(), *args[1:]]
        return super().call_function(target, args, kwargs)

    def run_node(self, n: torch.fx.Node) -> Any:
        """Runs a node, and keeps its value if `keep` says so."""
        if "_assert_" in str(n.target):
            return None
        value = super().run_node(n)
        if self.keep(n.name):
            self.values[n.name] = value
        return value


def arguments_of(node: torch.fx.Node) -> dict[str, Any]:
    """{name: argument} of an ATen operation."""
    names = (
        [a.name for a in node.target._schema.arguments] if hasattr(node.target, "_schema") else []
    )
    return dict(zip(names, node.args), **node.kwargs)


def place(node: torch.fx.Node) -> str:
    """The path of the module that a node is part of."""
    stack = list((node.meta.get("nn_module_stack") or {}).values())
    return stack[-1][0] if stack else ""


def named(node: torch.fx.Node) -> str:
    """The module that a node is part of, for a message."""
    return f'module "{place(node)}"' if place(node) else "the network itself"


def pairs(programs: Sequence[ExportedProgram]) -> Iterable[tuple[torch.fx.Node, torch.fx.Node]]:
    """The nodes of both programs, side by side."""
    a, b = (list(p.graph_module.graph.nodes) for p in programs)
    need(
        len(a) == len(b)
        and all(str(x.target) == str(y.target) for x, y in zip(a, b) if x.op == "call_function"),
        "the network runs other operations for another batch size",
    )
    return itertools.zip_longest(a, b)
