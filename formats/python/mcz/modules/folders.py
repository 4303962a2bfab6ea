# SPDX-License-Identifier: Apache-2.0
"""Align and merge networks in folders as transformers' save_pretrained writes them: config.json and
safetensors."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import tempfile
from typing import Any

import numpy as np
import torch
from torch import nn

from ..errors import inside, need, warn
from ..export.program import user_code
from ..nn.state import listed
from ..symmetry.derive import UNUSED
from . import align as activations
from .derive import groups
from .merge import combine, expect_same
from .network import Network
from .permute import permute

BATCH = 16  # inputs
IN_PYTHON = "use mcz.torch.groups and mcz.torch.align in Python"
SHARD = "2GB"  # transformers copies a shard before it writes it
# files of weights, in all formats, which only the network itself replaces
WEIGHTS = ".safetensors", ".bin", ".h5", ".msgpack", ".pt", ".pth", ".ckpt", ".gguf", ".index.json"
# files of tokenizers, which say what a row of an embedding means
TOKENIZERS = "tokenizer.json", "vocab.json", "vocab.txt", "spiece.model", "tokenizer.model"


def read(folder: str) -> Any:
    """The network in a folder, of the class and the dtype that its config.json names. Raises Error
    if a tensor is missing."""
    with user_code("cannot import transformers"):
        transformers: Any = importlib.import_module("transformers")
        transformers.utils.logging.set_verbosity_error()
        transformers.utils.logging.disable_progress_bar()
    with inside(folder):
        need(os.path.isfile(os.path.join(folder, "config.json")), "config.json expected in it")
        with user_code("transformers cannot load it"):
            config = transformers.AutoConfig.from_pretrained(folder)
            name = (getattr(config, "architectures", None) or ["none"])[0]
            need(
                hasattr(transformers, name),
                f"architectures in config.json must name a class of transformers (got {name})",
            )
            net, info = getattr(transformers, name).from_pretrained(
                folder, torch_dtype="auto", local_files_only=True, output_loading_info=True
            )
        wrong = sorted(str(k) for k in {*info["missing_keys"], *info["mismatched_keys"]})
        need(not wrong, f"tensors of {name} are missing or have other shapes ({listed(wrong)})")
        if info["unexpected_keys"]:
            extra = listed(sorted(info["unexpected_keys"]))
            warn(f"{folder}: {name} does not use these tensors; the result lacks them ({extra})")
        net.config.use_cache = False  # torch.export records no cache
        for m in net.modules():
            if hasattr(m, "name_or_path"):  # the folder, which does not matter
                m.name_or_path = ""
        return net.eval()


def _example(net: Any) -> dict[str, torch.Tensor]:
    """An input of the network, from which its groups are derived: two images, or two texts of
    different tokens."""
    name, config = net.main_input_name, net.config
    if name == "pixel_values":
        size: Any = getattr(config, "image_size", None)
        need(size, f"{type(net).__name__}: no image_size in config.json ({IN_PYTHON})")
        height, width = (size, size) if isinstance(size, int) else size
        return {name: torch.rand(2, config.num_channels, height, width, dtype=net.dtype)}
    need(
        name == "input_ids" and not config.is_encoder_decoder,
        f"{type(net).__name__} reads more than token ids or images ({IN_PYTHON})",
    )
    tokens = net.get_input_embeddings().num_embeddings
    return {name: torch.arange(tokens - 16, tokens).remainder(tokens).view(2, 8)}


def _batches(net: Any, path: str) -> list[dict[str, torch.Tensor]]:
    """The inputs in a file of NumPy, in batches."""
    dims, kind = (4, "f") if net.main_input_name == "pixel_values" else (2, "iu")
    with open(path, "rb") as f, inside(path), user_code("cannot read it"):
        x = np.load(f)
        need(
            x.ndim == dims and x.dtype.kind in kind and len(x),
            "{} expected, got {} {}".format(
                "images (N, C, H, W) of floats" if dims == 4 else "token ids (N, T)",
                x.dtype,
                x.shape,
            ),
        )
    inputs = torch.from_numpy(x).to(net.dtype if dims == 4 else torch.long)
    return [{net.main_input_name: inputs[i : i + BATCH]} for i in range(0, len(inputs), BATCH)]


def _write(net: Any, source: str, out: str) -> None:
    """Writes a folder: the weights of the network, and the other files of the source, config.json
    and tokenizer among them. It appears whole or not at all."""
    parent = os.path.dirname(os.path.abspath(out))
    with tempfile.TemporaryDirectory(prefix=".mcz-", dir=parent) as temporary:
        new = os.path.join(temporary, "new")
        with user_code(f"transformers cannot write {out}"):
            net.save_pretrained(new, max_shard_size=SHARD)
        for entry in os.scandir(source):
            if entry.is_file() and not entry.name.endswith(WEIGHTS):
                shutil.copyfile(entry.path, os.path.join(new, entry.name))
        os.rename(new, out)


def _pair(a: str, b: str, out: str) -> tuple[nn.Module, nn.Module]:
    """The networks of two folders. Raises Error first if the folder out cannot be made."""
    need(not os.path.lexists(out), f"{out}: exists (give a new folder)")
    need(os.path.isdir(os.path.dirname(os.path.abspath(out))), f"{out}: its folder is missing")
    first, second = read(a), read(b)
    names = type(first).__name__, type(second).__name__
    need(
        names[0] == names[1],
        f"{a} and {b}: networks of one class expected, got {names[0]} and {names[1]}",
    )
    other = []
    for name in TOKENIZERS:
        x, y = (_vocabulary(os.path.join(folder, name)) for folder in (a, b))
        other += [name] * (x is not None and y is not None and x != y)
    if getattr(first.config, "id2label", None) != getattr(second.config, "id2label", None):
        other.append("id2label in config.json")
    if other:
        warn(f"{a} and {b} differ in {listed(other)}: use networks with the same labels and tokens")
    return first, second


def _vocabulary(path: str) -> Any:
    """The tokens in a file, or its bytes; None if it is missing."""
    if not os.path.isfile(path):
        return None
    with open(path, "rb") as f, user_code(f"cannot read {path}"):
        if not path.endswith(".json"):
            return f.read()
        tokens = json.load(f)
        return tokens["model"]["vocab"] if path.endswith("tokenizer.json") else tokens


def align(a: str, b: str, out: str, data: str | None) -> None:
    """Writes the network of folder b, with its units in the order of a's, to the folder out. By
    activations on the inputs in the file data; without it by weights."""
    first, second = _pair(a, b, out)
    batches = _batches(first, data) if data else None
    g = groups(first, _example(first), unused="keep")
    idle = sorted({tensor for tensor, *_, reason in g.fixed if reason == UNUSED})
    if idle:
        warn(f"{a}: units of tensors that a plain call does not use stay in place ({listed(idle)})")
    p = activations.align(first, second, batches, g, by="activations" if data else "weights")
    moved = sum(bool((v != np.arange(len(v))).any()) for v in p.tensors.values())
    permute(second, p, g)
    _write(second, b, out)
    print(f"{out}: {moved} of {len(p.tensors)} groups of units have a new order")


def merge(a: str, b: str, out: str, t: float) -> None:
    """Writes the network at t on the straight line from that of folder a to that of b to out."""
    need(0 <= t <= 1, f"-t must be from 0 to 1 (got {t})")
    networks = [Network(net) for net in _pair(a, b, out)]
    expect_same(networks[0], networks[1].module)
    _write(combine(networks, [None, None], [1 - t, t], 1, "ab", networks[0].module), a, out)
