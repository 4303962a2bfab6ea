# SPDX-License-Identifier: Apache-2.0
"""The tensors of a network in PyTorch, and copying those of a file or a dictionary into it."""
import os
import warnings

import numpy as np
import torch

import mcz

from . import safetensors
from .errors import need
from .graph import constant

WRAPPERS = "_orig_mod", "module", "model"  # of torch.compile; DataParallel and AveragedModel; Lightning


def tensors_of(net):
    """{name: tensor} of a network's state_dict, without its counts of batches."""
    return {k: v for k, v in net.state_dict().items() if not k.endswith(".num_batches_tracked")}


def _fits(here, there):
    """Axes of 1 at the end are passed over, and all where the stream has a vector."""
    here, there = list(here), list(there)
    if len(there) == 1:
        here = [k for k in here if k != 1]
    for shape in here, there:
        while shape and shape[-1] == 1:
            shape.pop()
    return here == there


def _own_name(net, name):
    """A tensor's name without the wrappers' parts of it: each only if the network has no such submodule there."""
    module, kept = net, []
    for part in name.split("."):
        if module is None or part not in WRAPPERS or any(part in d for d in (
                module._modules, module._parameters, module._buffers)):
            kept.append(part)
            module = None if module is None else module._modules.get(part)
    return ".".join(kept)


def _own_names(net, tensors):
    """The tensors by the network's names, without counts of batches and of averaged networks."""
    found, said, state = {}, {}, net.state_dict()
    for name, v in tensors.items():
        own = _own_name(net, name)
        if own.endswith(".num_batches_tracked") or own == "n_averaged" and own not in state:
            continue
        need(own not in found, "\"%s\" and \"%s\" are both %s of the network" % (said.get(own), name, own))
        found[own], said[own] = v if isinstance(v, torch.Tensor) else torch.from_numpy(np.array(v)), name
    return found


def _cast(k, v, dtype):
    """A tensor in another dtype. Only a rounded float may differ: Error names a tensor that would change otherwise."""
    need((v.is_floating_point(), v.is_complex()) == (dtype.is_floating_point, dtype.is_complex) and
         (dtype.is_floating_point or torch.equal(v.to(dtype).to(v.dtype), v)),
         "%s is %s there and %s here" % (k, str(v.dtype)[6:], str(dtype)[6:]))
    cast = v.to(dtype)
    need(not dtype.is_floating_point or torch.equal(torch.isinf(cast), torch.isinf(v)),
         "%s holds values that are too large for %s" % (k, str(dtype)[6:]))
    return cast


def _same(a, b):
    """Whether two tensors of floats have the same values."""
    a, b = a.double(), b.double()
    return bool(((a == b) | (a != a) & (b != b)).all())


def copy(net, tensors, strict=True):
    """load() of {name: tensor or array}; notes for the user."""
    state = tensors_of(net)
    tensors = _own_names(net, tensors)
    fixed = {k: constant(k) for k in tensors if k not in state and constant(k) is not None}
    wrong = ["%s is %g there, and a constant of the network" % (k, tensors[k].flatten()[0]) for k, v in fixed.items()
             if (tensors[k] != float(np.float32(v))).any()]
    tensors = {k: v for k, v in tensors.items() if k not in fixed}
    needed = {n for n, _ in net.named_parameters()}
    needed |= {n for n in state if n.endswith((".running_mean", ".running_var"))}
    other = [k for k in tensors if k in state and not _fits(state[k].shape, tensors[k].shape)]
    wrong += ["missing %s" % k for k in state if k in needed and k not in tensors] if strict else []
    wrong += ["unknown %s" % k for k in tensors if k not in state] if strict else []
    wrong += ["%s is %s here and %s there" % (k, tuple(state[k].shape), tuple(tensors[k].shape)) for k in other]
    need(not wrong, "the weights are of another network: %s" % "; ".join(wrong))
    new = {k: _cast(k, v, state[k].dtype) for k, v in tensors.items() if k in state}
    rounded = [k for k, v in new.items() if v.is_floating_point() and not _same(tensors[k], v)]
    with torch.no_grad():
        for k, v in new.items():
            state[k].copy_(v.reshape(state[k].shape))
    return ["%d of %d tensors are rounded: %s is %s there and %s here" % (
        len(rounded), len(new), k, str(tensors[k].dtype)[6:], str(new[k].dtype)[6:]) for k in rounded[:1]]


def read(weights):
    """{name: tensor or array} of a stream, its path, that of a safetensors file, or a dictionary."""
    if not isinstance(weights, (str, os.PathLike)):
        return getattr(weights, "tensors", weights)
    path = os.fspath(weights)
    need(not path.endswith((".pt", ".pth")), "%s: load_state_dict(torch.load(...)) reads what torch.save wrote" % path)
    if path.endswith(".safetensors"):
        return safetensors.read(path)
    s = mcz.read(path, "weights")
    need(set(s.dtypes.values()) <= {"float32"}, "%s: holds a tensor that is not float32" % path)
    return s.tensors


def load(net, weights, strict=True):
    """Copies a stream's weights and statistics (or a safetensors file's, or a dictionary's) into the network, which is
    returned. Every tensor of one must be in the other, or Error names all that are not; strict=False: those that are in
    both. Names may have the prefixes of torch.compile, DataParallel, AveragedModel and Lightning. A warning reports
    values that the network's dtype rounds."""
    for note in copy(net, read(weights), strict):
        warnings.warn(note, stacklevel=2)
    return net
