# SPDX-License-Identifier: Apache-2.0
"""Compare the structure of networks before their numbers are combined.

A permutation of b's units, a mean or a curve is right only if a and b are one architecture: the
same tensors, tied alike, equal constants outside the state_dict, and the same operations. Equal
names and shapes do not show that."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Iterator, Mapping
from types import BuiltinFunctionType, FunctionType, MethodType, SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import nn

from ..errors import Error, need, warn
from .state import listed, owners, same, tensors_of
from .unchanged import OWN

KEPT = torch.Tensor, np.ndarray, FunctionType, BuiltinFunctionType, MethodType, type
SETTINGS = bool, int, float, str


def attributes(net: nn.Module) -> Iterator[tuple[str, Any]]:
    """Yields (path, value) for each tensor, array, number, text, function or module that a network
    has as a plain attribute or a hook, also in lists, dictionaries and plain objects, and (path,
    text) for the settings of each module. Private numbers and texts are left out."""
    own = {id(v) for v in [*net.parameters(), *net.buffers(), *net.modules()]}
    for path, m in net.named_modules():
        yield path, f"{type(m).__name__}({m.extra_repr()})"
        for name, value in vars(m).items():
            if name in OWN and not name.endswith("_hooks"):
                continue
            public = not name.startswith("_")
            for at, v in _entries(path + "." * bool(path) + name, value):
                if id(v) in own:
                    continue
                if isinstance(v, KEPT) or (public and isinstance(v, (*SETTINGS, nn.Module))):
                    yield at, v
                if public and isinstance(v, nn.Module):  # not registered
                    yield from ((at + "." + k, x) for k, x in v.state_dict().items())
                for key, field in _fields(v).items() if public else ():
                    for inner, x in _entries(f"{at}.{key}", field):
                        if isinstance(x, (*KEPT, *SETTINGS)) and id(x) not in own:
                            yield inner, x


def _entries(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yields (name, value), or (name[i], entry) for each entry of a container."""
    for i, v in enumerate(leaves(value)):
        yield name if v is value else f"{name}[{i}]", v


def _fields(v: Any) -> dict[str, Any]:
    """The public attributes, except texts, of a SimpleNamespace, or of a dataclass without base
    classes, which hold a network's settings. Texts and the configs of libraries are left out: they
    also hold what changes no result, such as the name of a folder."""
    plain = type(v) is SimpleNamespace or (
        dataclasses.is_dataclass(type(v)) and type(v).__bases__ == (object,)
    )
    own = getattr(v, "__dict__", {}) if plain else {}
    return {k: x for k, x in own.items() if not (k.startswith("_") or isinstance(x, str))}


def leaves(value: Any) -> Iterator[Any]:
    """The entries of nested containers, and the function and arguments of a partial()."""
    for v in torch.utils._pytree.tree_leaves(value):
        if isinstance(v, functools.partial):
            yield from leaves([v.func, v.args, v.keywords])
        else:
            yield v


def captured(f: FunctionType) -> list[Any]:
    """The objects in a function's defaults and closure."""
    own = [*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values()]
    for cell in f.__closure__ or ():
        with contextlib.suppress(ValueError):  # not yet assigned
            own.append(cell.cell_contents)
    return own


def _settings(f: FunctionType) -> list[Any]:
    """The numbers and texts that a function captured."""
    return [v for v in captured(f) if isinstance(v, (bool, int, float, str))]


def unequal(x: Mapping[str, Any], y: Mapping[str, Any]) -> list[str]:
    """The names of the tensors, or attributes(), that differ, or that only one has."""
    return [k for k in {**x, **y} if not _equal(x.get(k), y.get(k))]


def _equal(x: Any, y: Any) -> bool:
    """True if two tensors have the same shape and numbers, after rounding to the narrower dtype,
    where NaN equals NaN; or two arrays, functions, modules or other values are equal."""
    if isinstance(x, np.ndarray) and isinstance(y, np.ndarray):
        return np.array_equal(x, y)
    if isinstance(x, MethodType) and isinstance(y, MethodType):  # of different networks
        return _equal(x.__func__, y.__func__)
    if isinstance(x, FunctionType) and isinstance(y, FunctionType):
        return x.__code__ == y.__code__ and _settings(x) == _settings(y)
    if isinstance(x, nn.Module) and isinstance(y, nn.Module):
        return repr(x) == repr(y)
    if not isinstance(x, torch.Tensor) or not isinstance(y, torch.Tensor):
        return type(x) is type(y) and x == y
    if x.shape != y.shape or x.is_floating_point() != y.is_floating_point():
        return False
    narrow = min(x.dtype, y.dtype, key=lambda t: t.itemsize)
    return same(*(v.detach().cpu().to(narrow) for v in (x, y)))


def compare_tensors(a: nn.Module, b: nn.Module, names: tuple[str, str], dtypes: bool) -> None:
    """Raises Error unless two networks have the same tensors: names, shapes, ties and parameters.
    names: the networks', for the message. dtypes: tensors must also have the same dtype."""
    x, y = tensors_of(a), tensors_of(b)
    other = [
        k
        for k in {**x, **y}
        if k not in x
        or k not in y
        or x[k].shape != y[k].shape
        or (dtypes and x[k].dtype != y[k].dtype)
    ]
    different = different_networks(names)
    kinds = ", shape or dtype" if dtypes else " or shape"
    need(not other, f"{different}{len(other)} tensors of another name{kinds} ({listed(other)})")
    ties, tied = owners(x), owners(y)
    for k in [k for k in ties if ties[k] != tied[k]][:1]:
        one, two = names if ties[k] != k else names[::-1]
        found = ties[k] if ties[k] != k else tied[k]
        raise Error(f'{different}{one} ties "{k}" to "{found}", {two} does not')
    trained, expected = ({k for k, _ in n.named_parameters(remove_duplicate=False)} for n in (a, b))
    other = sorted((trained ^ expected) & set(x))
    need(not other, f"{different}parameters of one of them are buffers ({listed(other)})")


def compare_attributes(a: nn.Module, b: nn.Module, names: tuple[str, str]) -> None:
    """Raises Error if buffers outside the state_dict of two networks differ. Plain attributes may
    be results that forward keeps, and settings may concern training only, so a difference is a
    warning. names: the networks'."""
    other = unequal(
        *(
            {k: v for k, v in n.named_buffers() if k not in s}
            for n, s in ((a, a.state_dict()), (b, b.state_dict()))
        )
    )
    need(
        not other,
        f"{different_networks(names)}buffers outside the state_dict differ ({listed(other)})",
    )
    other = unequal(dict(attributes(a)), dict(attributes(b)))
    if other:
        places = listed([k or "the network itself" for k in other])
        warn(
            f"modules or attributes of {names[0]} and {names[1]} differ ({places}). If they change "
            "results, the networks are different"
        )


def different_networks(names: tuple[str, str]) -> str:
    """The start of a message about two different networks."""
    return f"{names[0]} and {names[1]} are different networks: "
