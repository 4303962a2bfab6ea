# SPDX-License-Identifier: Apache-2.0
# mcz.torch.Curve computes what mc-bezier and mc-eval compute for the same network (tinyten): the gradient at a given t, the
# steps of training, batch norm's statistics, the table of a stored curve and its summary.
need_torch 2.4
export PYTHONPATH=$PYTHONPATH:$MC_ROOT/tests/parity OMP_NUM_THREADS=1
mc-data synth --samples 700 -o train.mcz
mc-data synth --samples 128 -o batch.mcz # one step per epoch
mc-data synth --split test --samples 300 -o test.mcz
for s in 1 2; do mc-train -q --net tinyten --data train.mcz --epochs 2 --seed $s -t 1 -o $s.mcz; done
bezier() { mc-bezier -q -t 1 --data batch.mcz --no-augment --huber 1 "$@" 1.mcz 2.mcz; }
bezier --epochs 0 --control-points 1 -o line.mcz
bezier --epochs 1 --lr 100 --momentum 0 --no-nesterov -o step.mcz
bezier --epochs 6 --lr .05 -o steps.mcz
bezier --epochs 3 --lr .05 --control-points 2 --chain -o chain.mcz
mc-eval -q -t 1 --data train=train.mcz --data test.mcz --bn-data train.mcz --bn-plain --points 5 --summary summary.tsv \
    steps.mcz -o table.tsv
mc-bezier -q -t 1 --point .3 --bn-data train.mcz --bn-plain steps.mcz -o point.mcz
$python - <<'END'
import types

import mcz, mcz.torch, numpy as np, torch
from mcz.modules.training import gradient_at
from refusal import expect_error
import philox, torch_nets


def huber(x):  # mc-bezier --huber 1: float32 gradients of a ReLU differ at its kink
    x = x.clamp(min=0)
    return torch.where(x < 1, x * x / 2, x - .5)


def loader(path):
    s = mcz.read(path)
    x = torch_nets.normalised(s.tensors["images"], s.meta["mean"], s.meta["std"])
    return list(zip(x.split(128), torch.from_numpy(s.tensors["labels"].copy()).long().split(128)))


def load(path):
    return mcz.torch.Curve.load(path, torch_nets.TinyTen())


def near(a, b, tolerance, what):
    """a: {name: tensor}, b: {name: array}; in the norm of all tensors together."""
    a, b = (np.concatenate([np.asarray(m[k], "f8").reshape(-1) for k in a]) for m in (a, b))
    error = np.linalg.norm(a - b) / np.linalg.norm(b)
    print("%s: %.2g" % (what, error))
    assert error <= tolerance and np.linalg.norm(b) > 1e-3, what


def ts(seed=1):
    epoch = 0
    while True:
        yield torch.tensor((philox.philox(seed, 4, epoch, 0, 0)[0] >> 8) / 2 ** 24)
        epoch += 1


(x, y), = loader("batch.mcz")
line, plain = load("line.mcz"), torch_nets.F
assert repr(line) == "<bezier curve, 3 points, 86778 parameters>", line
torch_nets.F = types.SimpleNamespace(relu=huber)
# the gradient at the first t, from one step of mc-bezier at a large rate
t = float(next(ts()))
found, point, gradient = gradient_at(line, t, x, y, plain.cross_entropy)
c, after = 2 * t * (1 - t), mcz.read("step.mcz").tensors
moved = {k: (line.points[1][k].double().numpy() - after["1/" + k]) / (100 * c) for k in gradient}
near({k: g + 5e-4 * point[k] for k, g in gradient.items()}, moved, 1e-4, "gradient at t = %.3f" % t)
# steps of training with the same t
rand = torch.rand
for path, epochs in ("steps.mcz", 6), ("chain.mcz", 3):
    draws, c, trained = ts(), load("line.mcz"), load(path)
    if path == "chain.mcz":
        c = mcz.torch.Curve(*(c.point(t, [(x, y)]) for t in (0, 1)), kind="chain", control_points=2)
    start = {"%d/%s" % (i, k): p[k].clone() for i, p in enumerate(c.points) for k in c.names}
    torch.rand = lambda *a, **k: next(draws)
    c.train([(x, y)], epochs=epochs, lr=.05, progress=False)
    torch.rand = rand
    found, expected = ({"%d/%s" % (i, k): p[k] - start["%d/%s" % (i, k)] for i in range(1, len(c.points) - 1)
                        for k, p in ((k, curve.points[i]) for k in c.names)} for curve in (c, trained))
    near(found, expected, 1e-4, "%d steps, %s" % (epochs, c.kind))
    for i in 0, -1:
        assert all(torch.equal(c.points[i][k], trained.points[i][k]) for k in c.names), "ends"
torch_nets.F = plain
# statistics and tables
c, train = load("steps.mcz"), loader("train.mcz")
state, point = c.point(.3, train).state_dict(), mcz.read("point.mcz").tensors
for s in ".running_mean", ".running_var", "":
    near({k: state[k] for k in point if k.endswith(s)}, point, 1e-5, "point" + s)
for call in lambda: c.point(.3), lambda: c.save("again.mcz"):  # without statistics
    expect_error("mc-bezier has no statistics*give a loader", call)
c.save("again.mcz", train)
state = c.point(1, train).state_dict()
own = load("again.mcz").point(1).state_dict()
near({k: own[k] for k in state if "running" in k}, state, 1e-6, "saved statistics")
own = load("again.mcz").point(.3).state_dict()
near({k: own[k] for k in point if "running" not in k}, point, 1e-6, "saved points")
rows = c.evaluate({"train": train, "test": loader("test.mcz")}, points=5, progress=False)
rows.write("ours.tsv", "ours.summary.tsv")
END
cut -f 1 table.tsv >t
cut -f 1 ours.tsv | same - t
columns() { paste "$1" "$2" | awk -F '\t' -v near="$3" -v first="$4" 'NR == 1 { for (i = 1; i <= NF / 2; i++) if ($i != $(i + NF / 2))
    { print "columns differ"; exit 1 }; next } { for (i = first; i <= NF / 2; i++) { d = $i - $(i + NF / 2); if (d > near || d < -near)
    { print "row " NR ", column " i ": " $i " and " $(i + NF / 2); exit 1 }; n++ } } END { if (n < 12) exit 1 }'; }
columns table.tsv ours.tsv .05 2 || die 'the tables differ'
columns summary.tsv ours.summary.tsv .05 3 || die 'the summaries differ'
head -n 1 table.tsv | same - <(head -n 1 ours.tsv)
