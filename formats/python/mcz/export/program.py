# SPDX-License-Identifier: Apache-2.0
"""python -m mcz.torch export: write the graph and the weights of a network."""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import torch
from torch import nn

from .. import keys, safetensors
from ..errors import Error, inside, need
from ..files import replacing
from ..nn import load
from ..nn.inputs import brief, code_line
from ..stream import read
from .trace import export

T = TypeVar("T")


@contextmanager
def user_code(problem: str) -> Iterator[None]:
    """Turns an exception of the user's code into a one-line Error with the place: "PROBLEM: TYPE:
    TEXT (FILE:LINE)"."""
    try:
        yield
    except Error:
        raise
    except Exception as e:
        raise Error(f"{problem}: {brief(e)}{code_line(e)}") from None


def _saved(path: str) -> dict[str, torch.Tensor]:
    """The state_dict in a file of torch.save: alone or in a checkpoint. Executes no code of it."""
    with open(path, "rb") as f, user_code(f"cannot load {path}"):
        saved = torch.load(f, map_location="cpu", weights_only=True)
    for key in ("state_dict", "model_state_dict", "model", "net"):
        saved = (
            saved[key] if isinstance(saved, dict) and isinstance(saved.get(key), dict) else saved
        )
    need(
        isinstance(saved, dict),
        f"cannot load {path}: state_dict expected, got {type(saved).__name__}",
    )
    return {k: v for k, v in saved.items() if isinstance(v, torch.Tensor)}


def _load_file(net: nn.Module, path: str) -> list[str]:
    """Loads the file of --state into the network. Returns notes for the user."""
    tensors = (load.read if path.endswith(".mcz") or safetensors.is_safetensors(path) else _saved)(
        path
    )
    with inside(f"cannot load {path}"):
        return load.copy(net, tensors)


def network(text: str) -> nn.Module:
    """The nn.Module of MODULE:NET or MODULE:NET(argument=value, ...)."""
    module, _, call = text.partition(":")
    name, paren, arguments = call.partition("(")
    need(module and name, "MODULE:NET expected")
    if module.endswith(".py"):
        inner = os.path.normpath(module[:-3]).replace(os.sep, ".")
        raise Error(f"a module expected, not a file: write {inner}:{call}")
    sys.path.insert(0, "")
    with user_code(f"cannot import {module}"):
        net: Any = importlib.import_module(module)
    for part in name.split("."):
        need(hasattr(net, part), f"module {module} has no {part}")
        net = getattr(net, part)
    if not isinstance(net, nn.Module):
        args, kwargs = _literals("f(" + (arguments if paren else ")"))
        with user_code("cannot create the network"):
            net = net(*args, **kwargs)
    if not isinstance(net, nn.Module):
        raise Error(f"torch.nn.Module expected, got {type(net).__name__}")
    return net


def _literals(call: str) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a call, which must be literal values."""
    try:
        found = ast.parse(call, mode="eval").body
        if isinstance(found, ast.Call):
            return [ast.literal_eval(v) for v in found.args], {
                str(k.arg): ast.literal_eval(k.value) for k in found.keywords
            }
    except (SyntaxError, ValueError):
        pass
    raise Error("MODULE:NET(NAME=VALUE, ...) expected, with literal values") from None


def _numbers(text: str, kind: Callable[[str], T]) -> list[T]:
    return [kind(v) for v in text.split(",")]


def arguments(e: argparse.ArgumentParser) -> None:
    """Adds the arguments of `export` to its parser."""
    e.add_argument(
        "net",
        metavar="MODULE:NET",
        help="an nn.Module, or a class or function that returns one; may have "
        "arguments: 'torchvision.models:resnet18(num_classes=10)'",
    )
    e.add_argument(
        "--state",
        metavar="FILE",
        help="load this first: a state_dict or checkpoint of torch.save, "
        "safetensors (a file, an index of shards or a folder) or a .mcz file",
    )
    e.add_argument(
        "--data", metavar="FILE", help="a dataset stream, for --input, --classes, --mean and --std"
    )
    e.add_argument("--input", metavar="C,H,W", help="channels, height and width of an image")
    e.add_argument("--classes", metavar="K", type=int, help="number of classes")
    e.add_argument(
        "--mean",
        metavar="M,...",
        help="mean per channel, if training normalised the images (default: 0)",
    )
    e.add_argument(
        "--std",
        metavar="S,...",
        help="standard deviation per channel (default: 1; pixels are in [0, 1])",
    )
    e.add_argument("-o", dest="graph", metavar="NET.json", help="write the graph")
    e.add_argument("--weights", metavar="FILE", help="write the weights, as safetensors")


class Arguments:
    """The image, the classes and their normalisation: those of --data, or as given."""

    def __init__(self, o: argparse.Namespace, error: Callable[[str], Any]) -> None:
        meta: dict[str, Any] = {}
        if o.data:
            s = read(o.data, "dataset")
            meta = {k: keys.get(s.meta, k) for k in ("classes", "mean", "std")}
            meta["input"] = keys.get(s.tensors, "images").shape[1:]
        try:
            self.image = _numbers(o.input, int) if o.input else list(meta.get("input", []))
            self.mean, self.std = (
                _numbers(v, float) if v else meta.get(k)
                for k, v in (("mean", o.mean), ("std", o.std))
            )
        except ValueError:
            error("--input, --mean and --std must be numbers separated by commas")
        if len(self.image) != 3 or not (o.classes or meta):
            error("--data FILE, or --input C,H,W and --classes K, is required")
        self.classes: int = o.classes or meta["classes"]


def _write_graph(path: str, graph: dict[str, Any]) -> None:
    """Writes a graph, with one line per node."""
    nodes = ",\n".join("  " + json.dumps(n) for n in graph["nodes"])
    head = json.dumps({k: v for k, v in graph.items() if k != "nodes"})
    with replacing(path, "t") as f:
        f.write(f'{head[:-1]}, "nodes": [\n{nodes}]}}\n')


def run(o: argparse.Namespace, error: Callable[[str], Any]) -> None:
    """Runs the command with its parsed arguments. error: reports wrong usage."""
    if not (o.graph or o.weights):
        error("-o NET.json or --weights FILE is required")
    if o.weights and o.weights.endswith((".pt", ".pth", ".ckpt", ".pkl", ".mcz")):
        error(f"--weights {o.weights}: writes a .safetensors file (use --state to read weights)")
    own = Arguments(o, error)
    with inside(o.net):
        net = network(o.net)
        loaded = _load_file(net, o.state) if o.state else []
        shape = ",".join(map(str, own.image))
        with user_code(f"cannot run on an image of shape {shape}"):
            graph, tensors, notes = export(net, own.image, own.classes, own.mean, own.std)
    for note in loaded + notes:
        print(f"mcz.torch: {o.net}: {note}", file=sys.stderr)
    if o.weights:
        safetensors.write(o.weights, tensors)
    if o.graph:
        _write_graph(o.graph, graph)
