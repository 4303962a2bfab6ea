# SPDX-License-Identifier: Apache-2.0
# mcz.torch.align, permute, merge and Curve refuse what does not fit with one line. A curve whose training fails is unchanged,
# and so are the files of a failed save or alignment.
need_torch 2.4
export OMP_NUM_THREADS=1
$python - <<'END'
import copy, os, warnings
import mcz, mcz.torch, torch
from refusal import expect_error as refused
from torch import nn

GROUPS = {"hidden": {"out": ["0.*:0", "1.*:0"], "in": ["3.weight:1"], "at": "3:in"}}


def net(seed, width=6):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(5, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, 3))


def expect(words, call):
    refused(words, call)
    try:
        call()
    except mcz.Error as e:
        assert "\n" not in str(e), e


a, b, wide = net(1), net(2), net(3, 7)
x, y = torch.randn(40, 5), torch.randint(3, (40,))
data = list(zip(x.split(10), y.split(10)))
p = mcz.torch.align(a, b, data, GROUPS, path="p.mcz")
c = mcz.torch.Curve(a, b, p)
before = open("p.mcz", "rb").read()

# networks
for call in (lambda: mcz.torch.Curve(a, wide), lambda: mcz.torch.merge(a, wide)):
    expect(["a and b are different networks: 7 tensors", "(0.weight, 0.bias, 1.weight, ...)"], call)
expect(["different networks", "3.weight"], lambda: mcz.torch.Curve(a, a[:3]))
# values
bad = net(4)
with torch.no_grad():
    bad[0].weight[2, 1] = float("nan")
for pair, name in (((a, bad), "b"), ((bad, a), "a")):
    expect([name + ": activations of group \"", "are not finite"], lambda: mcz.torch.align(*pair, data, GROUPS, path="p.mcz"))
huge = copy.deepcopy(a).double()
with torch.no_grad():
    huge[0].weight[1, 1] = 1e300  # an infinity in float32
for call in (lambda: mcz.torch.save(huge, "w.mcz", GROUPS), lambda: mcz.torch.align(huge, huge, None, GROUPS, by="weights")):
    expect(["finite numbers of float32 only (not 0.weight)"], call)
assert not os.path.exists("w.mcz")
# loaders
for empty in [], iter([]):
    expect(["the loader yields no batches"], lambda: mcz.torch.align(a, b, empty, GROUPS, path="p.mcz"))
    expect(["a loader of batches expected, got None"], lambda: mcz.torch.align(a, b, None, GROUPS, path="p.mcz"))
    expect(["the loader yields no batches"], lambda: c.train(empty, epochs=1))
    expect(["the loader yields no batches"], lambda: c.point(.5, empty))
    expect(["test: the loader yields no batches"], lambda: c.evaluate({"test": empty}, bn=data))
expect(["the loader yields no batches"], lambda: mcz.torch.align(a, b, []))
for images in x.split(10), [(x,)], [(x, None)]:
    expect(["batches (x, y) of inputs and labels expected"], lambda: c.train(images, epochs=1))
    expect(["test: batches (x, y) of inputs and labels expected"], lambda: c.evaluate({"test": images}))
assert isinstance(c.point(.5, x.split(10)), nn.Module)  # statistics need no labels
expect(["test: labels (40,) of integers expected, got (40, 3) of int64"], lambda: c.evaluate(
    {"test": [(x, y[:, None].repeat(1, 3))]}))
expect(["no loaders"], lambda: c.evaluate({}))
# losses
start = {k: v.clone() for k, v in c.points[1].items()}
expect(["the loss is not finite in epoch 1 (try a smaller lr)"], lambda: c.train(data, epochs=2, lr=1e38, log="log.json"))
expect(["the loss is not finite in epoch 1"], lambda: c.train(data, epochs=2, loss=lambda o, y: o.sum() * float("nan")))
assert all(torch.equal(c.points[1][k], v) for k, v in start.items())
expect(["the loss on test is not finite at t = 0"], lambda: c.evaluate({"test": [(x * float("nan"), y)]}))
# permutations and groups
other = {"other": GROUPS["hidden"]}
for call in (lambda g: mcz.torch.permute(net(2), p, g), lambda g: mcz.torch.merge(a, b, p, groups=g),
             lambda g: mcz.torch.Curve(a, b, "p.mcz", groups=g)):
    expect(["the permutation does not match the groups: \"hidden\" is only in the permutation; \"other\" is only in the groups"],
           lambda: call(other))
expect(["the groups of the permutation are missing (groups=)"], lambda: mcz.torch.Curve(a, b, "p.mcz"))
expect(["p must be a permutation stream (got dict)"], lambda: mcz.torch.Curve(a, b, p.tensors, groups=GROUPS))
expect(["unknown tensor \"2.weight\""], lambda: mcz.torch.save(a, "w.mcz", [("2.weight", 0, 0, 6, 1, "g")]))
assert all(torch.equal(u, v) for u, v in zip(mcz.torch.merge(a, b, p.tensors, groups=GROUPS).parameters(),
                                            mcz.torch.merge(a, b, p).parameters()))
expect(["a path expected, got the text of a group file"], lambda: mcz.torch.align(a, b, data, "tensor\taxis\n"))
# a permutation of other networks
moved = mcz.torch.permute(net(2), p, GROUPS)
with warnings.catch_warnings(record=True) as found:
    warnings.simplefilter("always")
    for q in p, "p.mcz":
        for call in (lambda n: mcz.torch.merge(a, n, q, groups=GROUPS), lambda n: mcz.torch.Curve(a, n, q, groups=GROUPS),
                     lambda n: mcz.torch.permute(copy.deepcopy(n), q, GROUPS)):
            call(b)
            assert not found, found[0].message
            call(moved)
            assert str(found.pop().message) == "the permutation was computed for other networks (not this b)" and not found
    mcz.torch.Curve(b, moved, p)
    assert str(found.pop().message).endswith("(not this a and b)")
    mcz.torch.permute(copy.deepcopy(moved), p, dict(GROUPS))  # other groups
    assert not found
# losses of the caller: any labels, and no accuracy
free = mcz.torch.Curve(a, b, p)
for labels, loss in (torch.rand(40, 3), nn.functional.mse_loss), ({"to": x}, lambda o, y: (o.sum(1) - y["to"].sum(1)).square().mean()):
    free.train([(x, labels)], epochs=1, loss=loss, progress=False)
    rows = free.evaluate([(x, labels)], points=2, loss=loss, progress=False)
    assert list(rows[0]) == ["t", "data.loss"] and [s["quantity"] for s in rows.summary()] == ["loss"], rows
assert "data.accuracy" in free.evaluate(data, points=2, loss=nn.CrossEntropyLoss(), progress=False)[0]
expect(["labels (40,) of integers expected", "float32 (other labels need your own loss=)"], lambda: free.train([(x, x)], epochs=1))
expect(["the network takes 1 argument, but the input has 2"], lambda: free.train([((x, x), y)], epochs=1))
# arguments
for swapped in GROUPS, "p.mcz":
    expect(["a loader of batches expected", "(the order is a, b, loader, groups)"], lambda: mcz.torch.align(a, b, swapped, data))
expect(["a loader of batches expected, got a tensor (one batch x: [x])"], lambda: mcz.torch.align(a, b, x, GROUPS))
expect(["by must be \"activations\" or \"weights\" (got 'data')"], lambda: mcz.torch.align(a, b, data, GROUPS, by="data"))
for call in (lambda: mcz.torch.align(a, b, data, GROUPS, by="weights", at={"hidden": "2"}),
             lambda: mcz.torch.align_many([a, b], None, GROUPS, by="weights", at={"hidden": "2"})):
    expect(["at requires by=\"activations\""], call)
for call in (lambda **more: mcz.torch.align(a, b, data, GROUPS, **more),
             lambda **more: mcz.torch.align_many([a, b], data, GROUPS, **more)):
    call(at={"hidden": "2"})
    for more in {"by": "weights", "att": {}}, {"stage": "pre"}:
        try:
            call(**more)
            assert False, more
        except TypeError as e:
            assert "unexpected keyword argument" in str(e), e
expect(["kind must be"], lambda: mcz.torch.Curve(a, b, kind="spline"))
expect(["control_points must be an integer from 0 to 62 (got 63)"], lambda: mcz.torch.Curve(a, b, control_points=63))
expect(["t must be from 0 to 1 (got 1.5)"], lambda: c.point(1.5))
expect(["points must be an integer of at least 2 (got 1)"], lambda: c.evaluate({"test": data}, points=1))
expect(["epochs must be an integer of at least 1 (got 0)"], lambda: c.train(data, epochs=0))
expect(["a straight line has no control points to train"], lambda: mcz.torch.Curve(a, b, control_points=0).train(data))
# files
for call in lambda: mcz.torch.Curve.load("c.mcz", nn.Identity), lambda: mcz.torch.load(nn.Identity, "w.mcz"):
    c.save("c.mcz")
    mcz.torch.save(a, "w.mcz", GROUPS)
    expect(["a module expected, not its class (Identity)"], call)
try:
    mcz.torch.load(a, "c.mcz")
    assert False
except mcz.Error as e:
    assert str(e).count("c.mcz") == 1, e
os.remove("w.mcz")
expect(["curve expected, got permutation"], lambda: mcz.torch.Curve.load("p.mcz", a))
c.save("c.mcz")
expect(["c.mcz: tensors do not match the network"], lambda: mcz.torch.Curve.load("c.mcz", wide))
try:  # a program's own message
    mcz.torch.align(a, b, data, GROUPS, path="p.mcz", options=["--no-such"])
    assert False
except OSError as e:
    assert "mc-hungarian" in str(e) and "no-such" in str(e), e
assert open("p.mcz", "rb").read() == before
END
expect_equal "$(find . -name '*mcz-tmp*' -o -name log.json -o -name w.mcz)" ''
