# SPDX-License-Identifier: Apache-2.0
"""The nodes of a traced graph, computed by PyTorch, and the check that they give what the network does."""
import math
from contextlib import contextmanager

import numpy as np
import torch
from torch.nn import functional as F

from .graph import constant
from .torch_functions import LOG_SOFTMAX


def run(net, x):
    """The logits among what a network returns."""
    out = net(x)
    if hasattr(out, "logits") and not isinstance(out, torch.Tensor):
        return out.logits
    if isinstance(out, dict):
        return next(iter(out.values()))
    return out[0] if isinstance(out, (tuple, list)) else out


@contextmanager
def evaluating(*nets):
    """The networks are in evaluation; afterwards each of their modules is in its own mode again."""
    modes = [(m, m.training) for n in nets for m in n.modules()]
    try:
        for n in nets:
            n.eval()
        yield
    finally:
        for m, training in modes:
            m.training = training


def settle(n):
    """Stride and padding of a window, as PyTorch's functions take them."""
    return {k: n[k] for k in ("stride",)} | {"padding": n["pad"]}


# An operation's output, of the node, its inputs (N,C,H,W) and a function that gives the node's tensors by name. What is
# not here is the function of this name in torch.nn.functional.
EVALUATE = {
    "conv": lambda n, x, w: F.conv2d(x, w("weight").reshape(n["out"], -1, *n["kernel"]),
                                     w("bias") if n["bias"] else None, groups=n["groups"], **settle(n)),
    "linear": lambda n, x, w: F.linear(x.flatten(1), w("weight"), w("bias") if n["bias"] else None)[..., None, None],
    "batchnorm": lambda n, x, w: F.batch_norm(x, w("running_mean"), w("running_var"), w("weight"), w("bias"),
                                              eps=n["eps"]),
    "layernorm": lambda n, x, w: F.layer_norm(x.movedim(1, -1), x.shape[1:2], w("weight"), w("bias"),
                                              n["eps"]).movedim(-1, 1),
    "scale": lambda n, x, w: x * (w(None).reshape(-1, 1, 1) if constant(n["name"]) is None else constant(n["name"])),
    "add": lambda n, *x: sum(x[1:-1], x[0]), "concat": lambda n, *x: torch.cat(x[:-1], 1),
    "mul": lambda n, x, y, w: x * y, "sigmoid": lambda n, x, w: torch.sigmoid(x),  # functional.sigmoid warns
    "maxpool": lambda n, x, w: F.max_pool2d(x, n["kernel"], ceil_mode=n["ceil"], **settle(n)),
    "avgpool": lambda n, x, w: F.avg_pool2d(x, n["kernel"], ceil_mode=n["ceil"], count_include_pad=False, **settle(n)),
    "globalpool": lambda n, x, w: x.mean((2, 3), keepdim=True),
    "adaptpool": lambda n, x, w: F.adaptive_avg_pool2d(x, n["size"]),
    "flatten": lambda n, x, w: x.flatten(1)[..., None, None], "dropout": lambda n, x, w: x, "loss": lambda n, x, w: x,
}


def verify(net, m, t):
    """The logits of the nodes are those of the network, on other images than the one that was traced. What differs is
    added to the problems of the trace t. net: in evaluation; m: the graph as a map."""
    x = torch.rand(3, *m["input"], generator=torch.Generator().manual_seed(2))
    state, made, first = net.state_dict(), {}, m["nodes"][0]
    a, b = (torch.tensor(np.broadcast_to(v, (len(first["mean"]),)).copy(), dtype=x.dtype).view(-1, 1, 1)
            for v in t.normalise or (1., 0.))
    with torch.no_grad():
        made["pixels"], theirs = x * a + b, run(net, x).as_subclass(torch.Tensor)
        for n in m["nodes"][1:]:
            f = EVALUATE.get(n["op"], lambda n, x, w: getattr(F, n["op"])(x))
            made[n["name"]] = f(n, *(made[i] for i in n["in"]),
                                lambda s, n=n: state["%s.%s" % (n["name"], s) if s else n["name"]])
        ours = made["loss"].flatten(1)
        if LOG_SOFTMAX in t.notes:
            ours = ours.log_softmax(1)
        off, most = (ours - theirs).abs().max().item(), theirs.abs().max().item()
    if not off <= 1e-4 * max(most, 1e-3) or not math.isfinite(off):
        t.problems.append("(the network itself): logits of other images are not those of its nodes (by %g of %g): it "
                          "branches on what it sees, or works in place on what it needs later" % (off, most))
