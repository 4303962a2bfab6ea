# SPDX-License-Identifier: Apache-2.0
# mcz.torch.merge and merge_many add in float64 and round once, also to 16 bits. merge equals the point of mc-bezier's line. They
# need little memory above the result, warn of numbers that are not finite, and leave networks of weight 0 out. A member of a
# joint set works as a permutation in merge, Curve and permute, which warn about other networks.
need_torch 2.4
export OMP_NUM_THREADS=1
$python - <<'END'
import copy, subprocess, warnings
import mcz, mcz.torch, numpy as np, torch
from torch import nn

GROUPS = {"hidden": {"out": ["0.*:0"], "in": ["2.weight:1"]}}


def net(seed, width=6):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(5, width), nn.ReLU(), nn.Linear(width, 3))


def warned(call):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    return [str(w.message) for w in found]


def linear(values, dtype):
    n = nn.Linear(len(values), 1, bias=False).to(dtype)
    n.weight.data[0] = values
    return n


# rounding: float64 to 16 bits by way of float32 differs for some of these
x = torch.randn(3, 200000, dtype=torch.float64, generator=torch.Generator().manual_seed(1)) * torch.tensor([[1e-4], [.05], [2.]])
halves = [linear(v.half(), torch.float16) for v in x]
exact = sum(w * n.weight.double() for w, n in zip((1, 4, 2), halves)).detach() / 7
found = mcz.torch.merge_many(halves, weights=[1, 4, 2]).weight.detach()
assert np.array_equal(found.numpy(), exact.numpy().astype("f2")) and not torch.equal(found, exact.half())
for value, expected in ((1 + 2 ** -8 + 2 ** -40, 1 + 2 ** -7), (1 + 2 ** -8, 1), (1 + 3 * 2 ** -8 - 2 ** -40, 1 + 2 ** -7),
                        (-1 - 2 ** -8 - 2 ** -40, -1 - 2 ** -7), (float("inf"), float("inf")), (0, 0), (1e39, float("inf"))):
    assert mcz.nn.permuted.rounded(torch.tensor([value], dtype=torch.float64), torch.bfloat16).item() == expected, value
a, b = net(1), net(2)
for t, end in (0., a), (1., b):
    assert all(map(torch.equal, mcz.torch.merge(a, b, t=t).parameters(), end.parameters()))
assert mcz.torch.merge(copy.deepcopy(a).double(), copy.deepcopy(b).double())[0].weight.dtype == torch.float64
p = {"hidden": [2, 0, 1, 3, 5, 4]}
moved = mcz.torch.permute(copy.deepcopy(b), p, GROUPS)
mcz.torch.save(a, "a.mcz", GROUPS)
mcz.torch.save(moved, "pb.mcz", GROUPS)
subprocess.run(["mc-bezier", "-q", "--epochs", "0", "a.mcz", "pb.mcz", "-o", "line.mcz"], check=True)
subprocess.run(["mc-bezier", "-q", "--point", ".3", "line.mcz", "-o", "point.mcz"], check=True)
mcz.torch.save(mcz.torch.merge(a, b, p, t=.3, groups=GROUPS), "own.mcz", GROUPS)
one, two = (mcz.read(f).tensors for f in ("own.mcz", "point.mcz"))
assert all(np.allclose(one[k], two[k], rtol=1e-6, atol=1e-9) for k in two) and list(one) == list(two)

# numbers that are not finite; a mask's infinities are right
bad = net(3)
with torch.no_grad():
    bad[0].weight[0, 0], bad[2].bias[1] = float("nan"), float("inf")
for call, name in (lambda: mcz.torch.merge(a, bad), "b"), (lambda: mcz.torch.merge_many([a, b, bad]), "network 3"):
    text = "the mean has numbers that are not finite (0.weight of %s, 2.bias of %s)" % (name, name)
    assert warned(call) == [text], warned(call)
assert warned(lambda: mcz.torch.merge_many([a, b, bad], weights=[1, 1, 0])) == []
for n in a, b:
    n.register_buffer("mask", torch.full((2, 2), float("-inf")).triu(1))
assert warned(lambda: mcz.torch.merge(a, b)) == []
del a.mask, b.mask

# members
nets = [a, b, net(4)]
joint = mcz.torch.align_many(nets, None, GROUPS, by="weights", path="joint.mcz")
q = mcz.member(joint, 2)
mcz.write("q.mcz", q.kind, q.meta, q.tensors)
subprocess.run(["mc-permute", "--member", "2", "joint.mcz", "-o", "by-mc-permute.mcz"], check=True)
assert isinstance(q, mcz.Stream) and q.id == mcz.read("q.mcz").id == mcz.read("by-mc-permute.mcz").id
assert q.network == joint.meta["members"][1] and q.reference == joint.meta["members"][0]
moved = mcz.torch.permute(copy.deepcopy(b), q, GROUPS)
calls = {"permute": lambda m, n: mcz.torch.permute(copy.deepcopy(n), q, GROUPS), "merge": lambda m, n: mcz.torch.merge(m, n, q),
         "Curve": lambda m, n: mcz.torch.Curve(m, n, q)}
for name, call in calls.items():
    assert warned(lambda: call(a, b)) == [], name
    assert warned(lambda: call(a, nets[2])) == ["the permutation was computed for other networks (not this b)"], name
    if name != "permute":
        assert warned(lambda: call(nets[2], moved)) == [
            "the permutation was computed for other networks (not this a and b)"], name
merged = mcz.torch.merge(a, b, q)
assert all(torch.allclose(m, (u + v) / 2) for m, u, v in zip(merged.parameters(), a.parameters(), moved.parameters()))
mcz.torch.Curve(a, b, q).save("curve.mcz")
assert mcz.read("curve.mcz").inputs[2] == q.id
END
mc-info --check curve.mcz >/dev/null
# memory above the networks, in units of one network
cat >memory.py <<'END'
import sys
import mcz, mcz.torch, numpy as np, torch
from torch import nn

N, dtype = 1500, getattr(torch, sys.argv[2])
nets = [nn.Sequential(*(nn.Linear(N, N, dtype=dtype) for _ in range(12))) for _ in range(2)]
groups = [(t, k, 0, N, 1, "g%d" % i) for i in range(11)
          for t, k in (("%d.weight" % i, 0), ("%d.bias" % i, 0), ("%d.weight" % (i + 1), 1))]
order = {"g%d" % i: np.random.default_rng(i).permutation(N) for i in range(11)}


def kib(key):
    return int(next(line for line in open("/proc/self/status") if line.startswith(key)).split()[1])


CALLS = {"merge": lambda: mcz.torch.merge(*nets, order, groups=groups), "merge_many": lambda: mcz.torch.merge_many(nets),
         "permute": lambda: mcz.torch.permute(nets[1], order, groups), "Curve": lambda: mcz.torch.Curve(*nets)}
torch.randn(9, 9) @ torch.randn(9, 9)
open("/proc/self/clear_refs", "w").write("5")
before = kib("VmRSS")
CALLS[sys.argv[1]]()
size = sum(p.numel() * p.element_size() for p in nets[0].parameters()) / 1024
print(sys.argv[1], sys.argv[2], (kib("VmHWM") - before) / size)
if (kib("VmHWM") - before) / size > float(sys.argv[3]):
    sys.exit(1)
END
[ -z "${MC_UNDER:-}" ] || exit 0
for dtype in float32 bfloat16; do
    for call in merge merge_many permute; do $python memory.py $call $dtype 2.5 || die "$call needs too much memory"; done
done
$python memory.py Curve float32 3.5 || die 'Curve needs too much memory'
