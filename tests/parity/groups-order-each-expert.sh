# SPDX-License-Identifier: Apache-2.0
# mcz.torch.groups derives an order of hidden units for each expert of a mixture, dense or of the best experts: products and
# einsum over stacked weights, biases, chosen weights, a loop over experts, and Mixtral. Random orders keep the outputs to 1e-10
# in float64, mc-permute moves the same, and align finds them again. If each input runs in few experts, no activation shows their
# hidden units: then by the weights. Activations still show the order of the experts, by their router.
need_torch 2.15
OMP_NUM_THREADS=1 PYTHONPATH=$PYTHONPATH:$MC_ROOT/tests/parity "$python" -W ignore - <<'END'
import copy, importlib.util, subprocess, warnings
from collections import Counter
import mcz, mcz.torch, numpy as np, torch
from derived_groups import Double
from hostile_modules import Apply, parameter
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
E, H, I = 3, 7, 6


def best(gate):
    values, places = gate.topk(2, -1)
    return torch.zeros_like(gate).scatter(-1, places, values)


def stacked(route, bias):
    """The experts compute all inputs, as products of (E, batch, channels)."""
    def forward(m, x):
        a, b = (torch.bmm(x.expand(E, -1, -1), m.up) + (m.b[:, None] if bias else 0)).chunk(2, -1)
        y = torch.bmm(F.silu(a) * b, m.down) + (m.c.unsqueeze(1) if bias else 0)
        return m.out((route(m.gate(x).softmax(-1)).mT[..., None] * y).sum(0))
    own = {"b": parameter(E, 2 * I), "c": parameter(E, H)} if bias else {}
    return net(forward, parameter(E, H, 2 * I), parameter(E, I, H), **own)


def einsum(m, x):
    hidden = F.relu(torch.einsum("bh,eih->bei", x, m.up))
    return m.out(torch.einsum("be,bei,ehi->bh", best(m.gate(x).softmax(-1)), hidden, m.down))


def chosen(m, x):
    gate, i = m.gate(x).softmax(-1).topk(2, -1)
    hidden = F.relu(x[:, None, None] @ m.up[i])
    return m.out((gate[..., None] * (hidden @ m.down[i])[..., 0, :]).sum(1))


def loop(m, x):
    gate = m.gate(x).softmax(-1)
    return m.out(sum(gate[:, i, None] * (F.relu(x @ m.up[i]) @ m.down[i]) for i in range(E)))


def net(forward, up, down, **own):
    return Apply(forward, gate=nn.Linear(H, E), up=up, down=down, out=nn.Linear(H, 4), **own).eval()


def check(name, a, x, expected, by="activations"):
    g = mcz.torch.groups(a, x)
    within = mcz.groups.nesting(g.rows, g.shapes)
    units = Counter((n, g.sizes[within[k][0]] if k in within else 0) for k, n in g.sizes.items())
    assert units == expected, "%s: %s" % (name, units)
    for seed in range(3):
        draw = np.random.default_rng(seed)
        p = {k: draw.permutation(n) for k, n in g.sizes.items()}
        nets = copy.deepcopy(a).double(), mcz.torch.permute(copy.deepcopy(a), p, g).double()
        with torch.no_grad(), Double():
            y, z = (net(x.double() if x.is_floating_point() else x) for net in nets)
        apart = float((y - z).abs().max() / y.abs().max())
        assert apart < 1e-10, "%s: outputs differ by %g" % (name, apart)
    print(name, dict(units), apart, flush=True)
    g.write("g.tsv")
    mcz.torch.save(a, "a.mcz", g)
    subprocess.run(["mc-permute", "-q", "--random", "1", "--perm-out", "p.mcz", "a.mcz", "-o", "b.mcz"], check=True)
    b = mcz.torch.permute(copy.deepcopy(a), "p.mcz", g)
    moved = mcz.read("b.mcz").tensors
    assert all(np.array_equal(v.detach().numpy(), moved[k]) for k, v in b.state_dict().items() if k in moved), name
    again = mcz.torch.permute(b, mcz.torch.align(a, b, [x], g, by), g).state_dict()
    assert all(torch.equal(v, again[k]) for k, v in a.state_dict().items()), name


each = Counter({(E, 0): 1, (I, E): E, (H, 0): 1})
x = torch.randn(64, H)
check("dense", stacked(lambda gate: gate, False), x, each)
check("the best experts", stacked(best, False), x, each)
check("biases", stacked(best, True), x, each)
check("einsum", net(einsum, parameter(E, I, H), parameter(E, H, I)), x, each)
check("chosen weights", net(chosen, parameter(E, H, I), parameter(E, I, H)), x, each, "weights")
check("a loop", net(loop, parameter(E, H, I), parameter(E, I, H)), x, Counter({(I, 0): E, (H, 0): 1}))  # experts stay in place
if importlib.util.find_spec("transformers"):
    import expected_groups
    mixtral, tokens, units = expected_groups.mixtral()
    check("Mixtral", mixtral, tokens(9), units, "weights")
    g, draw = mcz.torch.groups(mixtral, tokens(2)), np.random.default_rng(0)
    moved = mcz.torch.permute(copy.deepcopy(mixtral), {k: draw.permutation(n) for k, n in g.sizes.items()}, g)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        p = mcz.torch.align(mixtral, moved, [tokens(32)], g)
    assert any("no activation shows the groups within the units of" in str(w.message) for w in found), found
    again = mcz.torch.permute(moved, p, g).state_dict()
    routers = [k for k in again if k.endswith("gate.weight")]
    assert routers and all(torch.equal(again[k], mixtral.state_dict()[k]) for k in routers)
END
