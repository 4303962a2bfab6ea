# SPDX-License-Identifier: Apache-2.0
"""The inputs and outputs of a network, and calls that report the exceptions of its code."""

from __future__ import annotations

import importlib
import inspect
import os
import traceback
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import nn

from .. import errors
from ..errors import Error, need
from .state import WRAPPERS, listed
from .structure import leaves
from .unchanged import OWN

# the folders of code that is not the user's
LIBRARIES = tuple(
    os.path.dirname(os.path.abspath(str(m.__file__))) + os.sep for m in (errors, torch, importlib)
)


def outputs(out: Any) -> list[Any]:
    """The tensors in a network's output, which is a tensor, a tuple, a dictionary or an object with
    `logits`: the logits first, then the rest of a tuple. None of a dictionary's if it has several
    and no "logits"."""
    if isinstance(out, (tuple, list)):
        return [o for o in out if o is not None]
    if isinstance(out, Mapping):
        return [out["logits"]] if "logits" in out else list(out.values()) * (len(out) == 1)
    return [out.logits if hasattr(out, "logits") and not isinstance(out, torch.Tensor) else out]


def arguments(x: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The (args, kwargs) of a network's input: a tensor, a tuple of the arguments, or a dictionary
    of them, in an order that does not depend on the dictionary's."""
    if isinstance(x, Mapping):
        return (), dict(sorted(x.items()))
    return (tuple(x) if isinstance(x, (tuple, list)) else (x,)), {}


def _signature(net: Any) -> inspect.Signature | None:
    """The signature of a network's forward, or None if it is unknown."""
    try:
        return inspect.signature(net.forward)
    except (AttributeError, TypeError, ValueError):
        return None


def accepts(net: nn.Module, name: str) -> bool:
    """True if a network's forward has an argument of this name, or any keyword arguments."""
    found = _signature(net)
    return found is not None and any(
        k == name or p.kind is p.VAR_KEYWORD for k, p in found.parameters.items()
    )


def positional(net: nn.Module) -> int | None:
    """The number of positional arguments of a network's forward that may be tensors, or None if it
    is unknown. If a wrapper's forward accepts any arguments, the number for its network."""
    found = _signature(net)
    own = [] if found is None else [*found.parameters.values()]
    if own and not any(p.kind is p.VAR_POSITIONAL for p in own):
        numbers = (bool, int, float, str)
        return sum(
            p.kind.name.startswith("POSITIONAL") and not isinstance(p.default, numbers) for p in own
        )
    inner = [m for k in WRAPPERS if (m := net._modules.get(k)) is not None]
    return positional(inner[0]) if inner else None


def fit(net: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raises Error if the arguments do not fit the network's forward."""
    signature = _signature(net)
    if signature is None:
        return
    try:
        signature.bind(*args, **kwargs)
    except TypeError as e:
        n = sum(
            p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
            for p in signature.parameters.values()
        )
        raise Error(
            "the network takes {} argument{}, but the input has {} "
            "(for a batch (inputs, labels) pass batch[0])".format(n, "s" * (n != 1), len(args))
            if len(args) > n
            else f"the input does not fit the network: {e} (several arguments: give "
            "them as a dictionary, or as a tuple: ((x1, x2), y))"
        ) from None


def form(x: Any) -> str:
    """The arguments of a network's input as text: names, and shapes with N for the batch."""
    args, kwargs = arguments(x)
    return ", ".join(
        (
            k + " ({})".format(", ".join(map(str, ["N", *v.shape[1:]])))
            if isinstance(v, torch.Tensor)
            else f"{k} {v}"
        ).strip()
        for k, v in [*zip([""] * len(args), args), *kwargs.items()]
    )


def brief(e: Exception) -> str:
    """An exception's type and first line, shortened."""
    text = next((line.strip() for line in str(e).splitlines() if line.strip()), "")
    return "{}: {}".format(
        type(e).__name__, text if len(text) <= 200 else text[:200].rpartition(". ")[0] or text[:200]
    )


def code_line(e: BaseException) -> str:
    """ " (FILE:LINE)" of the innermost code outside PyTorch, mcz and Python's import that an
    exception passed, or ""."""
    own = [
        f
        for f in traceback.extract_tb(e.__traceback__)
        if f.filename.endswith(".py") and not os.path.abspath(f.filename).startswith(LIBRARIES)
    ]
    return f" ({os.path.basename(own[-1].filename)}:{own[-1].lineno})" if own else ""


def call(net: Any, x: Any, run: Callable[..., Any] | None = None, hint: str = "") -> Any:
    """The network's output for an input, which it may change in place: it gets copies. run: a
    function that runs it. Raises Error with the exception of the network's code, and the hint."""
    args, kwargs = torch.utils._pytree.tree_map(
        lambda v: v.clone() if isinstance(v, torch.Tensor) else v, arguments(x)
    )
    fit(net, args, kwargs)
    try:
        return (run or net)(*args, **kwargs)
    except Error:
        raise
    except Exception as e:
        raise Error(f"the network does not run on inputs {form(x)}: {brief(e)}{hint}") from e


class _Composed(nn.Module):
    """A network followed by a function of its output."""

    def __init__(self, net: nn.Module, function: Callable[[Any], Any]) -> None:
        super().__init__()
        self.net, self.function = net, function

    def forward(self, x: Any) -> Any:
        return self.function(call(self.net, x))


def expect_replaceable(net: nn.Module, names: Iterable[str]) -> None:
    """Raises Error if a plain attribute, such as a list, holds one of these tensors of network a,
    which call_with replaces, or another trained parameter: there the network would read a's at each
    point. A recurrent layer renews its list."""
    tensors = {
        **dict(net.named_parameters(remove_duplicate=False)),
        **dict(net.named_buffers(remove_duplicate=False)),
    }
    replaced = {id(tensors[k]) for k in names if k in tensors}
    wrong = [
        ".".join(filter(None, (path, name)))
        for path, m in net.named_modules()
        for name, value in vars(m).items()
        if name not in OWN and not (name == "_flat_weights" and isinstance(m, nn.RNNBase))
        if any(
            id(v) in replaced or (isinstance(v, nn.Parameter) and v.requires_grad)
            for v in leaves(value)
        )
    ]
    need(
        not wrong,
        "plain attributes hold parameters or buffers, and would keep those of a at each point "
        f"({listed(wrong)}): use nn.ParameterList or nn.ParameterDict, or delete attributes that "
        "forward does not read",
    )


def call_with(
    net: nn.Module, tensors: Mapping[str, torch.Tensor], x: Any, function: Callable[[Any], Any]
) -> Any:
    """function(output) of a network, while these tensors replace its own, which must be registered
    (expect_replaceable). Compute gradients in the function: with activation checkpointing, the
    backward pass runs modules of the network again."""
    need(
        not isinstance(net, (torch.jit.ScriptModule, nn.DataParallel)),
        f"{type(net).__name__} cannot run with the tensors of another point",
    )
    own = {"net." + k: v for k, v in tensors.items()}
    return torch.func.functional_call(_Composed(net, function), own, (x,))
