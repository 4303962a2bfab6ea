# SPDX-License-Identifier: Apache-2.0
"""Check derived groups: permuted networks with random tensors must return the same outputs."""
import numpy as np
import torch

from ..errors import Error, need
from . import capture
from .axes import atoms, outer

SEEDS = 3
TOLERANCE = 1e-9  # relative to the largest output


def _random_state(state, owners, seed):
    """The state with distinct random numbers in each floating-point tensor, in float64; vectors, such as variances, are
    positive."""
    generator, made = torch.Generator().manual_seed(seed), {}
    for name, t in state.items():
        key = owners[name]
        if key not in made and t.is_floating_point():
            x = torch.rand(t.shape, generator=generator, dtype=torch.float64)
            made[key] = x + .5 if t.dim() < 2 else (x - .5) * 3.5 / max(1, t[0].numel()) ** .5
        elif key not in made:
            made[key] = t.detach()
    return {name: made[owners[name]].to(t.device) for name, t in state.items()}


def _random_order(size, rng):
    p = rng.permutation(size)
    return p if (p != np.arange(size)).any() else np.roll(p, 1)


def _wide(example, seed):
    """The example in float64; random numbers for tensors that hold one number only."""
    generator = torch.Generator().manual_seed(seed)

    def one(x):
        if not isinstance(x, torch.Tensor) or not x.is_floating_point():
            return x
        if x.numel() and bool((x == x.flatten()[0]).all()):
            x = torch.randn(x.shape, generator=generator).to(x.device)
        return x.double()
    return torch.utils._pytree.tree_map(one, example)


def _outputs(program, values):
    kinds = [s.kind.name == "USER_OUTPUT" for s in program.graph_signature.output_specs]
    return [(torch.view_as_real(v.resolve_conj()) if v.is_complex() else v).double() for v, mine in zip(values, kinds)
            if mine and isinstance(v, torch.Tensor) and v.numel()]


def _run(program, state, example, n):
    """The outputs for n inputs. Raises Error if the program fails, for example at token ids outside an embedding."""
    try:
        with torch.no_grad():
            return _outputs(program, capture.Runner(program, double=True).run(*capture.inputs(program, state, example, n)))
    except (IndexError, RuntimeError, ValueError) as e:
        raise Error("cannot check the groups: the network does not run on the example: %s" % capture.brief(e)) from None


def _apart(x, y):
    """The largest difference relative to the largest finite number. Equal infinities differ by 0."""
    scale = torch.where(x.isfinite(), x, 0.).abs().max().clamp_min(1e-300)
    return float(torch.where(x == y, 0., (x - y).abs()).max() / scale)


def difference(groups, permute):
    """The largest relative difference of the outputs of permuted networks: three seeds, both batch sizes. Raises Error with
    the first module that differs. permute(state, permutation, rows) returns permuted tensors."""
    run, worst = groups.run, 0.
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        permutation = {g: _random_order(n, rng) for g, n in groups.sizes.items()}
        state = _random_state(run.state, run.owners, seed)
        moved = permute(state, permutation, groups.rows)
        example = _wide(groups.example, seed)
        for program, n in zip(run.programs, capture.SIZES):
            before, after = (_run(program, s, example, n) for s in (state, moved))
            need(not any(x.isnan().any() for x in before),
                 "cannot check the groups: outputs are not numbers for random parameters")
            apart = [_apart(x, y) for x, y in zip(before, after)]
            if not all(d <= TOLERANCE for d in apart):
                raise Error("derived groups change the network by %.2g at %s (please report this)" % (
                    max(apart), _first_different(groups, state, moved, permutation, example)))
            worst = max([worst, *apart])
    return worst


def _first_different(groups, state, moved, permutation, example):
    """The first module with a value that differs from the one expected of the permuted network."""
    program, n = groups.run.programs[0], capture.SIZES[0]
    with torch.no_grad():
        runs = [capture.Runner(program, keep=lambda name: True, double=True) for _ in range(2)]
        for r, s in zip(runs, (state, moved)):
            r.run(*capture.inputs(program, s, example, n))
    for node in program.graph_module.graph.nodes:
        x, y = (r.values.get(node.name) for r in runs)
        v = groups.run.values.get(node.name)
        if node.op != "call_function" or not isinstance(x, torch.Tensor) or not x.numel() or not hasattr(v, "axes"):
            continue
        for k, e in enumerate(v.axes):
            if any(outer(a) or a.size > capture.BATCH for a in atoms(e) if not a.fixed):
                break  # no single order of this axis
            if not all(a.fixed for a in atoms(e)) and e.size < capture.BATCH:
                x = x.index_select(k, torch.from_numpy(groups._order(e, permutation)).to(x.device))
        else:
            if not _apart(x.double(), y.double()) <= TOLERANCE:
                return "%s (%s)" % (capture.named(node), getattr(node.target, "_opname", node.name))
    return "an unknown module"
