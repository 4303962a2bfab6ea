# SPDX-License-Identifier: Apache-2.0
# mcz.torch.align_many finds planted orders of a vision transformer from activations and from weights, and with merge_many
# equals mc-hungarian --joint, mc-permute and mc-merge on the streams. Wrong arguments get one clear message.
need_torch 2.15
export PYTHONPATH=$PYTHONPATH:$MC_ROOT/pipelines/modules:$MC_ROOT/tests/parity OMP_NUM_THREADS=1
$python - <<'END'
import copy, io, subprocess
import mcz, mcz.torch, numpy as np, torch, vits
from torch import nn

def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout

nets = [vits.net(s, 16, 1) for s in (1, 2, 3)]
x = torch.randn(48, 3, 32, 32)
data = list(zip(x.split(16), torch.randint(10, (48,)).split(16)))
groups = mcz.torch.groups(nets[0], x[:2])
planted = [{g: np.random.default_rng(s).permutation(n) for g, n in groups.sizes.items()} for s in (4, 5)]
copies = [nets[0]] + [mcz.torch.permute(copy.deepcopy(nets[0]), p, groups) for p in planted]
for by in "activations", "weights":
    joint = mcz.torch.align_many(copies, data if by == "activations" else None, groups, by=by)
    assert vits.equal(mcz.torch.merge_many(copies, joint), nets[0]), by
assert not vits.equal(mcz.torch.merge_many(copies), nets[0])

# different networks: the same bytes as by the programs
kept = copy.deepcopy(nets)
joint = mcz.torch.align_many(nets, data, path="joint.mcz", options=["--starts", "3"])
merged = mcz.torch.merge_many(nets, joint)
assert all(map(vits.equal, nets, kept)) and nets[0].training and not merged.training
for i, n in enumerate(nets, 1):
    mcz.torch.save(n, "net-%d.mcz" % i, groups)
for i, j in (1, 2), (1, 3), (2, 3):
    mcz.torch.moments(nets[i - 1], nets[j - 1], data, groups, "m.mcz")
    open("m%d%d.mcz" % (i, j), "wb").write(run("mc-corr", "-q", "m.mcz"))
own = run("mc-hungarian", "-q", "--joint", "--starts", "3", "m12.mcz", "m13.mcz", "m23.mcz")
assert mcz.read(io.BytesIO(own)).id == joint.id == mcz.read("joint.mcz").id
for i in 1, 2, 3:
    run("mc-permute", "joint.mcz", "net-%d.mcz" % i, "-o", "p%d.mcz" % i)
for name, weights in ("mean", None), ("weighted", (3, 1, 1)):
    run("mc-merge", *(["--weights", ",".join(map(str, weights))] if weights else []), "p1.mcz", "p2.mcz", "p3.mcz", "-o", name + ".mcz")
    assert mcz.torch.save(mcz.torch.merge_many(nets, "joint.mcz", groups=groups, weights=weights), "own.mcz", groups) == mcz.read(name + ".mcz").id, name
# the order of the networks in merge_many is free: they are found by their ids
assert vits.equal(mcz.torch.merge_many([nets[2], nets[0], nets[1]], joint), merged) or max(
    float((u - v).abs().max()) for u, v in zip(merged.parameters(), mcz.torch.merge_many([nets[2], nets[0], nets[1]], joint).parameters())) < 1e-6

# batch norm: averaged, or re-estimated as merge does; bfloat16 stays
class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.norm, self.two = nn.Linear(8, 6), nn.BatchNorm1d(6), nn.Linear(6, 3)

    def forward(self, x):
        return self.two(torch.relu(self.norm(self.one(x))))

a, b = Norm(), Norm()
z = [torch.randn(64, 8) + 1]
mean, fresh = mcz.torch.merge_many([a, b]), mcz.torch.merge_many([a, b], loader=z)
assert vits.equal(fresh, mcz.torch.merge(a, b, loader=z)) and not torch.equal(mean.norm.running_mean, fresh.norm.running_mean)
assert mcz.torch.merge_many([copy.deepcopy(a).bfloat16(), copy.deepcopy(b).bfloat16()]).one.weight.dtype == torch.bfloat16

for why, call in (
        ("two or more networks expected (got 1)", lambda: mcz.torch.align_many(nets[:1], data, groups)),
        ("two or more networks expected (got 0)", lambda: mcz.torch.merge_many([])),
        ("by must be", lambda: mcz.torch.align_many(nets, data, groups, by="x")),
        ("a loader that can be read again expected, got an iterator", lambda: mcz.torch.align_many(nets, iter(data), groups)),
        ("the loader yields no batches", lambda: mcz.torch.align_many(nets, [])),
        ("a loader of batches expected, got Groups", lambda: mcz.torch.align_many(nets, groups, data)),
        ("a loader of batches expected, got None", lambda: mcz.torch.align_many(nets, None, groups)),
        ("both networks are", lambda: mcz.torch.align_many([nets[0], nets[0]], data, groups)),
        ("the same network as", lambda: mcz.torch.align_many([nets[0], nets[0]], None, groups, by="weights")),
        ("network 1 and network 2 are different networks", lambda: mcz.torch.merge_many([a, nets[0]])),
        ("a joint set expected", lambda: mcz.torch.merge_many(nets, mcz.member(joint, 2), groups=groups)),
        ("the groups of the joint set are missing", lambda: mcz.torch.merge_many(nets, "joint.mcz")),
        ("computed for other networks (not network 2)", lambda: mcz.torch.merge_many([nets[0], vits.net(9, 16, 1)], joint)),
        ("one weight of at least 0 per network expected", lambda: mcz.torch.merge_many(nets, weights=[1, 1])),
        ("one weight of at least 0 per network expected", lambda: mcz.torch.merge_many(nets, weights=[0, 0, 0])),
        ("one weight of at least 0 per network expected", lambda: mcz.torch.merge_many(nets, weights=[float("inf"), 1, 1]))):
    try:
        call()
        raise SystemExit("accepted: " + why)
    except mcz.Error as e:
        assert why in str(e) and "\n" not in str(e), (why, e)
END
