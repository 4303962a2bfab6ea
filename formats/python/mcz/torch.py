# SPDX-License-Identifier: Apache-2.0
"""PyTorch's networks here and back. A network that a graph can say:

    python -m mcz.torch export MODULE:NET --input 3,32,32 --classes 10 -o net.json --weights a.safetensors
    mc-convert a.safetensors --net ./net.json --data train.mcz -o a.mcz
    mcz.torch.load(net, "pb.mcz")

and one of which only the groups of units are known (mcz.groups):

    mcz.torch.moments(a, b, loader, groups, "m.mcz")      # mc-corr m.mcz | mc-hungarian -o p.mcz
    mcz.torch.permute(b, "p.mcz", groups)                 # in place
"""
import argparse
import ast
import importlib
import json
import os
import re
import sys
import traceback
from contextlib import contextmanager

try:
    import torch
except ImportError:
    if __name__ == "__main__":
        sys.exit("mcz.torch: needs PyTorch, which %s has not (pip install torch)" % sys.executable)
    raise

import numpy as np
import xxhash

import mcz
from mcz import groups as _groups
from mcz import keys, safetensors
from mcz import state as _state
from mcz.errors import Error, inside, need
from mcz.evaluate import evaluating
from mcz.files import replacing
from mcz.graph import constant
from mcz.state import load, tensors_of
from mcz.stream import content_id

PARTS = "sum_a", "sum_b", "sumsq_a", "sumsq_b", "cross"  # of the moments of a tap


# ---- there and back --------------------------------------------------------------------------------------------------

def export(net, input, classes, mean=None, std=None, name=None):
    """(graph, {tensor: array}, notes): what mc-convert and --net take, of a network in evaluation whose input is
    (images - mean) / std, images in [0, 1]. mcz.Error names each function that has no node, with its module's path."""
    from mcz import trace
    return trace.graph_of(net, list(input), classes, mean, std, name)


# ---- networks that no graph says -------------------------------------------------------------------------------------

def _floats(net):
    """{name: float32 array} of the tensors of floating point, in the order of mc-convert --groups."""
    return {k: v.detach().cpu().float().numpy() for k, v in sorted(tensors_of(net).items(), key=lambda e: e[0].encode())
            if v.is_floating_point()}


def _ids(nets, rows, streams):
    """The content ids of networks: of the streams (paths), which must hold them, or of those that mc-convert --groups
    makes of them with these rows."""
    if streams is None:
        meta = {"net": "groups", "dataset": "", "symmetry": _groups.text(rows)}
        return [content_id("weights", meta, _floats(n)) for n in nets]
    found = [mcz.read(path, "weights") for path in streams]
    need(len(found) == len(nets), "%d weights streams for %d networks" % (len(found), len(nets)))
    for path, s, net in zip(streams, found, nets):
        here = _floats(net)
        other = [k for k, v in s.tensors.items() if (k in here or constant(k) is None) and not np.array_equal(
            v.reshape(-1), here.get(k, np.zeros(0)).reshape(-1))]
        need(not other, "%s does not hold the network's %s" % (path, ", ".join(other)))
    return [s.id for s in found]


def _forward(net, batch):
    if isinstance(batch, dict):
        return net(**batch)
    return net(batch[0] if isinstance(batch, (tuple, list)) else batch)


def _first(batch):
    return next(iter(batch.values())) if isinstance(batch, dict) else batch[0] if isinstance(
        batch, (tuple, list)) else batch


def _to(batch, device):
    if isinstance(batch, dict):
        return {k: _to(v, device) for k, v in batch.items()}
    if isinstance(batch, (tuple, list)):
        return [_to(v, device) for v in batch]
    return batch.to(device) if isinstance(batch, torch.Tensor) else batch


def _path(text):
    """MODULE, MODULE:in, MODULE[FROM:TO] or both: the module, and the places or None."""
    module, first, end = re.fullmatch(r"(.*?)(?:\[(\d+):(\d+)\])?(?::in)?", text).groups()
    return module, (int(first), int(end)) if end else None


class _Taps:
    """The activations of a network at modules' outputs, or inputs (PATH:in)."""

    def __init__(self, net, paths):
        modules, self.hooks, self.seen = dict(net.named_modules()), [], {}
        wrong = [p for p in paths if _path(p)[0] not in modules]
        need(not wrong, "there is no module %s" % ", ".join("\"%s\"" % p for p in wrong))
        for p in paths:
            m = modules[_path(p)[0]]
            keep = (lambda m, x, p=p: self._keep(p, x[0])) if p.endswith(":in") else (
                lambda m, x, y, p=p: self._keep(p, y))
            self.hooks.append(m.register_forward_pre_hook(keep) if p.endswith(":in") else
                              m.register_forward_hook(keep))

    def _keep(self, path, x):
        need(path not in self.seen, "module \"%s\" runs more than once a pass: take another's input (PATH:in)" % path)
        need(isinstance(x, torch.Tensor), "module \"%s\" gives no tensor" % path)
        need(not x.is_complex(), "module \"%s\" returns complex numbers" % path)
        self.seen[path] = x.detach().clone()  # what follows may work in place

    def remove(self):
        for h in self.hooks:
            h.remove()


def _units(x, size, axis, path):
    """(samples, units), in float64, with the samples of an image side by side."""
    places = _path(path)[1]
    if places:
        axis = -1 if axis is None else axis
        need(places[0] < places[1] <= x.shape[axis], "at \"%s\", which is %s: no such places" % (path, tuple(x.shape[1:])))
        x = x.narrow(axis, places[0], places[1] - places[0])
    if axis is None:
        behind = range(1, x.dim())
        fits = [d for d in behind if x.shape[d] == size] or [d for d in behind if x.shape[d] % size == 0]
        need(len(fits) == 1 or fits and x.dim() == 4 and 1 in fits, "at \"%s\", which is %s, %s axis shows %d units: "
             "say \"axis\"" % (path, tuple(x.shape[1:]), "more than one" if fits else "no", size))
        axis = fits[0]
    places = x.shape[axis]
    need(places % size == 0, "at \"%s\": %d places of axis %d for %d units" % (path, places, axis, size))
    x = x.movedim(axis, -1)
    return x.reshape(-1, size, places // size).transpose(1, 2).reshape(-1, size).double()


def moments(a, b, loader, groups, path="-", at=None, stage="post", weights=None):
    """Writes the moments stream (formats/codecs/moments.md, version 2) of two networks' joint activations on what the loader
    yields: batches that the network takes, or lists whose first is one, or dictionaries of its arguments. at: {group:
    modules} where groups does not say it. stage: "pre" where what is seen is not behind the ReLU. weights: the paths of
    a's and b's weights streams, by whose content ids mc-permute knows them (default: those that mc-convert --groups makes
    of the networks, with these rows in this order). Returns the content id."""
    rows, sizes = _groups.rows(groups, {k: v.shape for k, v in tensors_of(a).items()})
    lies, names = _groups.nesting(rows), list(sizes)
    for g, (up, _) in lies.items():
        need(up not in lies, "group %s: nested more than one level deep" % g)
    units = {g: n * sizes[lies[g][0]] if g in lies else n for g, n in sizes.items()}
    said = groups if isinstance(groups, dict) else {}
    at = {g: (at or {}).get(g, said.get(g, {}).get("at")) for g in sizes}
    around = {up for up, _ in lies.values()}
    need(not any(at[g] for g in around), "what lies within its units shows %s: it has no \"at\"" % ", ".join(
        "\"%s\"" % g for g in sizes if g in around and at[g]))
    at = {g: p for g, p in at.items() if g not in around and not lies.get(g, (0, 0))[1]}
    need(all(at.values()), "no \"at\", the module that shows the units, of %s" % ", ".join(
        g for g in at if not at[g]))
    taps = [(g, p) for g in at for p in ([at[g]] if isinstance(at[g], str) else at[g])]
    nets = a, b
    ids = _ids(nets, rows, weights)
    seen = [_Taps(n, [p for _, p in dict.fromkeys(taps)]) for n in nets]
    sums = [{p: 0 for p in PARTS} for _ in taps]
    samples, images, data = [0] * len(taps), 0, xxhash.xxh3_128()
    try:
        with evaluating(*nets), torch.no_grad():
            for batch in loader:
                for n, s in zip(nets, seen):
                    s.seen.clear()
                    device = next(n.parameters()).device
                    _forward(n, _to(batch, device))
                count = len(_first(batch))
                data.update(_first(batch).detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
                images += count
                for i, (g, p) in enumerate(taps):
                    need(all(p in s.seen for s in seen), "module \"%s\" does not run" % p)
                    axis = said.get(g, {}).get("axis")
                    x, y = (_units(s.seen[p], units[g], axis, p).cpu() for s in seen)
                    for part, v in zip(PARTS, (x.sum(0), y.sum(0), (x * x).sum(0), (y * y).sum(0), x.T @ y)):
                        sums[i][part] = sums[i][part] + v.numpy()
                    samples[i] += len(x)
    finally:
        for s in seen:
            s.remove()
    need(images, "the loader yields no images")
    nested = {g: {"within": names.index(up), "unit": unit} for g, (up, unit) in lies.items()}
    meta = {"version": 2, "at": stage, "groups": [{"name": g, "size": sizes[g], **nested.get(g, {})} for g in names],
            "taps": [{"name": p, "group": names.index(g), "start": 0, "count": units[g], "samples": n}
                     for (g, p), n in zip(taps, samples)], "images": images, "shards": 1, "counted": [0], "total": images}
    tensors = {"%d/%s/%s" % (i, p, part): sums[i][part] for i, (_, p) in enumerate(taps) for part in PARTS}
    return mcz.write(path, "moments", meta, tensors, inputs=ids + [data.hexdigest()],
                     history=mcz.history("mcz.torch.moments", {"a": ids[0], "b": ids[1]}))


def permute(net, permutation, groups):
    """Permutes the units of a network in place, by a permutation stream (or {group: permutation}), and returns it."""
    if isinstance(permutation, (str, os.PathLike)):
        permutation = mcz.read(permutation, "permutation").tensors
    permutation = {k: np.asarray(v) for k, v in getattr(permutation, "tensors", permutation).items()}
    state = tensors_of(net)
    rows, sizes = _groups.rows(groups, {k: v.shape for k, v in state.items()})
    wrong = ["\"%s\" is only in the %s" % (g, "groups" if g in sizes else "permutation")
             for g in sorted(set(sizes) ^ set(permutation))]
    wrong += ["\"%s\" has %d units, not %d" % (g, permutation[g].size, sizes[g])
              for g in sizes if g in permutation and permutation[g].size != sizes[g]]
    wrong += ["\"%s\" is of %s, not whole numbers" % (g, p.dtype) for g, p in permutation.items()
              if p.dtype.kind not in "iu"]
    need(not wrong, "a permutation of other groups: %s" % "; ".join(wrong))
    for g, p in permutation.items():
        need(np.array_equal(np.sort(p), np.arange(len(p))), "group \"%s\": does not have each unit once" % g)
    axes = {}
    for r in rows:  # a tensor that two names share is permuted once
        key = (state[r.tensor].data_ptr(), r.axis)
        axes.setdefault(key, (state[r.tensor], set()))[1].add(r._replace(tensor=""))
    with torch.no_grad():
        for (_, axis), (tensor, some) in axes.items():
            index = _groups.gather(tensor.shape[axis], some, permutation)
            tensor.copy_(tensor.index_select(axis, torch.from_numpy(index).to(tensor.device)))
    return net


# ---- the program -----------------------------------------------------------------------------------------------------

@contextmanager
def _theirs(what):
    """What their code raises, in a line that says where."""
    try:
        yield
    except Error:
        raise
    except Exception as e:
        at = traceback.extract_tb(e.__traceback__)[-1]
        raise Error("%s: %s: %s (%s:%d)" % (what, type(e).__name__, " ".join(str(e).split()),
                                            os.path.basename(at.filename), at.lineno)) from None


def _saved(path):
    """The state_dict in a file that torch.save wrote, by itself or in a checkpoint."""
    with open(path, "rb") as f, _theirs("cannot load %s" % path):
        saved = torch.load(f, map_location="cpu")
    for key in ("state_dict", "model_state_dict", "model", "net"):
        saved = saved[key] if isinstance(saved, dict) and isinstance(saved.get(key), dict) else saved
    saved = saved.state_dict() if isinstance(saved, torch.nn.Module) else saved
    need(isinstance(saved, dict), "cannot load %s: holds a %s, not a state_dict" % (path, type(saved).__name__))
    return {k: v for k, v in saved.items() if isinstance(v, torch.Tensor)}


def _load_file(net, path):
    """Loads a file of --state into the network; notes for the user."""
    tensors = (_state.read if path.endswith((".mcz", ".safetensors")) else _saved)(path)
    with inside("cannot load %s" % path):
        return _state.copy(net, tensors)


def _network(text):
    """MODULE:NET, or MODULE:NET(argument=value, ...)."""
    module, _, what = text.partition(":")
    name, paren, arguments = what.partition("(")
    need(module and name, "'%s' is not MODULE:NET" % text)
    sys.path.insert(0, "")
    with _theirs("cannot import %s" % module):
        net = importlib.import_module(module)
    for part in name.split("."):
        need(hasattr(net, part), "%s has no %s" % (module, part))
        net = getattr(net, part)
    if not isinstance(net, torch.nn.Module):
        try:
            call = ast.parse("f(" + (arguments if paren else ")"), mode="eval").body
            values = [ast.literal_eval(v) for v in call.args], {k.arg: ast.literal_eval(k.value) for k in call.keywords}
        except (SyntaxError, ValueError):
            raise Error("'%s' is not MODULE:NET(NAME=VALUE, ...)" % text) from None
        with _theirs("cannot be made"):
            net = net(*values[0], **values[1])
    need(isinstance(net, torch.nn.Module), "%s is no torch.nn.Module" % text)
    return net


def _numbers(text, kind=float):
    return [kind(v) for v in text.split(",")]


def main():
    p = argparse.ArgumentParser(prog="python -m mcz.torch", description="Bring a PyTorch network here.")
    e = p.add_subparsers(dest="what", required=True).add_parser(
        "export", help="the graph of an nn.Module, and its weights",
        description="Write the graph of an nn.Module, which every --net takes, and its weights for mc-convert.")
    e.add_argument("net", metavar="MODULE:NET", help="an nn.Module, or what returns one: also with arguments, "
                   "'torchvision.models:resnet18(num_classes=10)'")
    e.add_argument("--state", metavar="FILE", help="a state_dict or checkpoint of torch.save, a .safetensors or a .mcz, "
                   "loaded first")
    e.add_argument("--data", metavar="FILE", help="a dataset stream that says input, classes, mean and std")
    e.add_argument("--input", metavar="C,H,W", help="an image's channels, height and width")
    e.add_argument("--classes", metavar="K", type=int)
    e.add_argument("--mean", metavar="M,...", help="of the images' normalisation in training, a channel")
    e.add_argument("--std", metavar="S,...", help="(default: the network takes pixels in [0, 1])")
    e.add_argument("-o", dest="graph", metavar="NET.json", help="the graph")
    e.add_argument("--weights", metavar="FILE", help="the weights, as safetensors")
    o = p.parse_args()
    if not (o.graph or o.weights):
        e.error("nothing to write: give -o NET.json, --weights FILE or both")
    try:
        meta = {}
        if o.data:
            s = mcz.read(o.data, "dataset")
            meta = {k: keys.get(s.meta, k) for k in ("classes", "mean", "std")}
            meta["input"] = keys.get(s.tensors, "images").shape[1:]
        try:
            image = _numbers(o.input, int) if o.input else list(meta.get("input", []))
            mean, std = (_numbers(v) if v else meta.get(k) for k, v in (("mean", o.mean), ("std", o.std)))
        except ValueError:
            e.error("--input, --mean and --std are numbers with commas between them")
        if len(image) != 3 or not (o.classes or meta):
            e.error("needs --data FILE, or --input C,H,W and --classes K")
        with inside(o.net):
            net = _network(o.net)
            loaded = _load_file(net, o.state) if o.state else []
            with _theirs("cannot be run on an image of %s" % ",".join(map(str, image))):
                graph, tensors, notes = export(net, image, o.classes or meta["classes"], mean, std)
        for note in loaded + notes:
            print("mcz.torch: %s: %s" % (o.net, note), file=sys.stderr)
        if o.weights:
            safetensors.write(o.weights, tensors)
        if o.graph:
            nodes = ",\n".join("  " + json.dumps(n) for n in graph["nodes"])
            head = json.dumps({k: v for k, v in graph.items() if k != "nodes"})
            with replacing(o.graph, "t") as f:
                f.write("%s, \"nodes\": [\n%s]}\n" % (head[:-1], nodes))
    except (Error, OSError, RuntimeError) as why:
        print("mcz.torch: %s" % why, file=sys.stderr)
        return 3 if isinstance(why, Error) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
