# SPDX-License-Identifier: Apache-2.0
"""Align tinytens with other programs, from their own code, and measure orders. CPU only, one thread.

    merge_peers.py PROGRAM CLONE DATA OUT NET.safetensors...
    merge_peers.py objective MATRICES NETS ORDERED NUMBER...

The first form writes the networks in the program's common order, OUT/1.safetensors and so on; zipit writes its merged
network, OUT/mean.safetensors. CLONE is the program's repository. DATA is a training set: its first SAMPLES images are
used unchanged. Prints the seconds without Python's start and imports. Programs, with the revisions that ran:

    rebasin         git-re-basin ef40098: weight_matching of each network to the first (JAX 0.4.20)
    rebasin-many    git-re-basin: match_many (set PYTHONHASHSEED to repeat a run)
    c2m3            cycle-consistent-model-merging ea1eca7: FrankWolfeSynchronizedMerger; INIT=sinkhorn (its default) or
                    identity. It requires Python 3.9.19, PyTorch 1.13 and a GPU; it ran with Python 3.11 and PyTorch 2.15
                    on a CPU. Its own repair was not run: it requires a GPU and its project's Lightning modules.
    repair          REPAIR e90263d: its VGG notebook's alignment by activations, of each network to the first. It is
                    written for two networks.
    zipit           ZipIt 1b6ca40: match_tensors_zipit; AB=.3,.125 (its default) or other values of its two parameters.
                    Those of its evaluation script, .0001 and .075, have 42.8% for seeds 1 to 3.

The second form prints two objectives of an order, summed over all pairs: the matched correlations in MATRICES/mIJ.mcz and
the inner products of the parameters. NETS/net-N.mcz are the networks before, ORDERED/p-N.mcz in the order.

Results are measured like this (zipit writes OUT/mean.safetensors instead of networks in an order):

    for n in 1 2 3; do mc-convert net-$n.mcz -o net-$n.safetensors; done
    for p in 12 13 23; do mc-acts --data train.mcz net-${p:0:1}.mcz net-${p:1}.mcz | mc-corr -o m$p.mcz; done
    mkdir out && /usr/bin/time -v python merge_peers.py PROGRAM CLONE train.mcz out net-[123].safetensors
    for n in 1 2 3; do mc-convert out/$n.safetensors --like net-$n.mcz -o out/p-$n.mcz; done
    mc-merge out/p-?.mcz -o out/mean.mcz
    mc-repair --data train.mcz out/mean.mcz -o out/reestimated.mcz
    mc-repair --data train.mcz out/mean.mcz --ends out/p-?.mcz -o out/repaired.mcz
    mc-eval --data test.mcz out/mean.mcz out/reestimated.mcz out/repaired.mcz
    python merge_peers.py objective . . out 1 2 3"""
import ast
import functools
import itertools
import json
import os
import sys
import time
import types

import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../formats/python"))
LAYERS = 8
SAMPLES = 10000


def axes():
    """The permutations of both axes of each parameter: P0 to P7."""
    spec, last = {}, None
    for i in range(LAYERS):
        p, conv, norm = f"P{i}", f"layers.{i}.conv", f"layers.{i}.bn"
        spec |= {conv + ".weight": (p, last, None, None), conv + ".bias": (p,), norm + ".weight": (p,), norm + ".bias": (p,)}
        last = p
    return spec | {"dense.weight": (None, last), "dense.bias": (None,)}


def permute(net, perms):
    """The network with unit perms[i][j] of layer i at position j."""
    out = dict(net)
    for i, p in enumerate(perms):
        for name in net:
            if name.startswith(f"layers.{i}."):
                out[name] = out[name][p]
        after = f"layers.{i + 1}.conv.weight" if i + 1 < LAYERS else "dense.weight"
        out[after] = out[after][:, p]
    return out


def recovered(before, after):
    """The permutations of a permuted network: layer by layer, the units with equal parameters."""
    perms, last = [], slice(None)
    for i in range(LAYERS):
        units = lambda net, columns: [b"".join(np.asarray(net[f"layers.{i}.{k}"][j], "f4").tobytes() for k in
                                      ("bn.weight", "bn.bias")) + np.asarray(net[f"layers.{i}.conv.weight"][j][columns],
                                      "f4").tobytes() for j in range(len(net[f"layers.{i}.bn.bias"]))]
        x, y = units(before, last), units(after, slice(None))
        left = {}
        for j, u in enumerate(x):
            left.setdefault(u, []).append(j)
        last = [left[u].pop() for u in y]
        perms.append(last)
    return perms


# ---- git-re-basin ------------------------------------------------------------------------------------
def rebasin(folder, nets, data, many):
    sys.path.insert(0, folder + "/src")
    import weight_matching as wm
    import utils
    from jax import random, tree_map
    spec = wm.permutation_spec_from_axes_to_perm(axes())
    nets = [{k: n[k] for k in axes()} for n in nets]
    start = time.time()
    if not many:
        perms = [wm.weight_matching(random.PRNGKey(123), spec, nets[0], n, silent=True) for n in nets[1:]]
        identity = {p: np.arange(len(v)) for p, v in perms[0].items()}
        return start, [wm.apply_permutation(spec, p, n) for p, n in zip([identity] + perms, nets)]
    # match_many is a function inside the script's main part
    script = ast.parse(open(folder + "/src/mnist_mlp_wm_many.py").read())
    chosen = [n for n in ast.walk(script) if getattr(n, "name", "") == "match_many" or isinstance(n, ast.Assign)
              and getattr(n.targets[0], "id", "") == "tree_mean"]
    names = {**vars(wm), **vars(utils), "random": random, "tree_map": tree_map}
    exec(compile(ast.Module(chosen, []), "mnist_mlp_wm_many.py", "exec"), names)
    return start, names["match_many"](random.PRNGKey(123), spec, [utils.unflatten_params(n) for n in nets])


# ---- programs in PyTorch -----------------------------------------------------------------------------
def module(net=None):
    """tinyten as a torch.nn.Sequential in the form of a VGG: features and classifier."""
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            units, inputs = [], 3
            for out, k, s, p in ((16, 3, 1, 1), (16, 3, 1, 1), (32, 3, 2, 1), (32, 3, 1, 1), (32, 3, 1, 1), (64, 3, 2, 1),
                                 (64, 3, 1, 0), (64, 1, 1, 0)):
                units += [nn.Conv2d(inputs, out, k, s, p), nn.BatchNorm2d(out), nn.ReLU()]
                inputs = out
            self.features = nn.Sequential(*units, nn.AdaptiveAvgPool2d(1))
            self.classifier = nn.Linear(inputs, 10)

        def forward(self, x):
            return self.classifier(self.features(x).flatten(1))

    m = Net().eval()
    if net:
        m.load_state_dict({names()[k]: torch.from_numpy(v.copy()) for k, v in net.items() if k in names()}, strict=False)
    return m


@functools.cache
def names():
    """Our names of parameters and statistics: the names of module()."""
    kinds = {"conv": ("weight", "bias"), "bn": ("weight", "bias", "running_mean", "running_var")}
    return {f"layers.{i}.{kind}.{k}": f"features.{3 * i + at}.{k}" for i in range(LAYERS)
            for at, kind in enumerate(kinds) for k in kinds[kind]} | {
            f"dense.{k}": f"classifier.{k}" for k in ("weight", "bias")}


def state(m):
    return {ours: m.state_dict()[k].numpy().copy() for ours, k in names().items()}


def loader(data, size):
    import torch
    import mcz
    d = mcz.read(data)
    mean, std = (torch.tensor(d.meta[k]).view(1, 3, 1, 1) for k in ("mean", "std"))
    images = (torch.from_numpy(d.tensors["images"][:SAMPLES].copy()).float() / 255 - mean) / std
    return tuple((images[i:i + size], None) for i in range(0, len(images), size))


def on_cpu():
    import torch
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    torch.Tensor.cuda = torch.nn.Module.cuda = lambda self, *_: self


def c2m3(folder, nets, data):
    import torch
    sys.modules["scipy.misc"] = types.SimpleNamespace(derivative=None)  # an unused import
    os.environ.setdefault("PROJECT_ROOT", folder)
    sys.path.insert(0, folder + "/src")
    from ccmm.matching import frank_wolfe_matching as fw, frank_wolfe_sync_matching as sync, merger
    from ccmm.matching.permutation_spec import PermutationSpecBuilder
    spec = {names()[k]: v for k, v in axes().items()}
    spec = PermutationSpecBuilder().permutation_spec_from_axes_to_perm(spec)
    for f in ("sinkhorn_knopp", "initialize_perturbed_uniform"):
        setattr(fw, f, functools.partial(getattr(fw, f), device="cpu"))
    merger.frank_wolfe_synchronized_matching = functools.partial(sync.frank_wolfe_synchronized_matching, device="cpu")
    __import__("wandb").init(mode="disabled")
    torch.manual_seed(0)
    models = {chr(ord("a") + i): module(n) for i, n in enumerate(nets)}
    method = merger.FrankWolfeSynchronizedMerger("c2m3", spec, os.environ.get("INIT", "sinkhorn"), device="cpu")
    start = time.time()
    _, ordered = method.merge_models(models)
    return start, [state(m) for m in ordered.values()]


def repair(folder, nets, data):
    import torch
    cells = json.load(open(folder + "/notebooks/Train-and-Permute-CIFAR10-VGG11-BatchNorm.ipynb"))["cells"]
    use = {"torch": torch, "nn": torch.nn, "np": np, "tqdm": lambda x: x,
           "scipy": __import__("scipy.optimize"), "train_aug_loader": loader(data, 500)}
    run = lambda i: exec("".join(cells[i]["source"]), use)
    for i in 11, 12, 13:
        run(i)
    start, ordered = time.time(), [nets[0]]
    for n in nets[1:]:
        use |= {"model0": module(nets[0]), "model1": module(n)}
        run(17)
        ordered.append(state(use["model1"]))
    return start, ordered


def zipit(folder, nets, data):
    sys.path.insert(0, folder)
    sys.modules["clip"] = types.SimpleNamespace()  # an unused import
    from graphs.base_graph import BIGGraph, NodeType
    from model_merger import ModelMerge

    class Graph(BIGGraph):
        def graphify(self):
            nodes = []
            for i in range(0, 3 * LAYERS, 3):
                nodes += [f"features.{i}", f"features.{i + 1}", f"features.{i + 2}", NodeType.PREFIX]
            nodes += [f"features.{3 * LAYERS}", "classifier", NodeType.OUTPUT]
            self.add_nodes_from_sequence("", nodes, self.create_node(node_type=NodeType.INPUT), sep="")
            return self

    images = loader(data, 500)
    start = time.time()
    merge = ModelMerge(*[Graph(module(n)).graphify() for n in nets], device="cpu")
    a, b = map(float, os.environ.get("AB", ".3,.125").split(","))
    merge.transform(module(), images, a=a, b=b)
    return start, state(merge.merged_model)


PROGRAMS = {"rebasin": functools.partial(rebasin, many=False), "rebasin-many": functools.partial(rebasin, many=True),
            "c2m3": c2m3, "repair": repair, "zipit": zipit}


def run(program, clone, data, out, *files):
    import safetensors.numpy
    if "rebasin" not in program:
        on_cpu()
    nets = [safetensors.numpy.load_file(f) for f in files]
    start, result = PROGRAMS[program](os.path.abspath(clone), nets, data)
    print("%s\t%.1f" % (program, time.time() - start))
    if isinstance(result, dict):
        result = {"mean": {**nets[0], **result}}
    else:
        result = {i: permute(n, recovered(n, r)) for i, (n, r) in enumerate(zip(nets, result), 1)}
    for name, net in result.items():
        safetensors.numpy.save_file({k: np.ascontiguousarray(v) for k, v in net.items()}, f"{out}/{name}.safetensors")


def objective(matrices, nets, ordered, *numbers):
    import mcz
    nets = {n: (mcz.read(f"{nets}/net-{n}.mcz").tensors, mcz.read(f"{ordered}/p-{n}.mcz").tensors) for n in numbers}
    perms = {n: recovered(*both) for n, both in nets.items()}
    matched = inner = 0
    for a, b in itertools.combinations(sorted(numbers), 2):
        m = mcz.read(f"{matrices}/m{a}{b}.mcz").tensors
        matched += sum(m[f"layers.{i}.conv"][perms[a][i], perms[b][i]].sum() for i in range(LAYERS))
        inner += sum(np.vdot(nets[a][1][k].astype(float), nets[b][1][k]) for k in axes())
    print("%.2f\t%.2f" % (matched, inner))


if __name__ == "__main__":
    (objective if sys.argv[1] == "objective" else functools.partial(run, sys.argv[1]))(*sys.argv[2:])
