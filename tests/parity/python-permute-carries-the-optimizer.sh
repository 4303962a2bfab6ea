# SPDX-License-Identifier: Apache-2.0
# mcz.torch.permute(optimizer=) permutes the state of one optimizer or several too, so training continues as without the permutation.
# State of another shape is refused by name, and another network's optimizer too; then nothing changes.
need_torch 2.4
export OMP_NUM_THREADS=1
$python - <<'END'
import copy
import warnings
import mcz, mcz.torch, torch
from refusal import expect_error
from torch import nn
from torch.nn import functional as F

GROUPS = {"one": {"out": ["0.*:0", "1.*:0"], "in": ["3.weight:1"]}, "two": {"out": ["3.*:0"], "in": ["5.weight:1"]}}
ORDER = {"one": [2, 0, 1, 3, 5, 4], "two": [6, 5, 4, 3, 2, 1, 0]}


def net():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(5, 6, bias=False), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 7), nn.ReLU(), nn.Linear(7, 3))


x, y = torch.randn(64, 5), torch.randint(3, (64,))


def train(n, optimizers, steps, first=0):
    for i in range(first, first + steps):
        n.zero_grad()
        F.cross_entropy(n(x[i % 4 * 16:][:16]), y[i % 4 * 16:][:16]).backward()
        for opt in optimizers if isinstance(optimizers, list) else [optimizers]:
            opt.step()


def apart(m, n):
    return max(float((u - v).abs().max()) for u, v in zip(m.state_dict().values(), n.state_dict().values()))


for make in (lambda p: torch.optim.SGD(p, .1, momentum=.9, nesterov=True), lambda p: torch.optim.AdamW(p, .01, amsgrad=True),
             lambda p: torch.optim.RMSprop(p, .01, momentum=.5, centered=True)):
    (m, a), (n, b), (o, c) = ((n, make(n.parameters())) for n in (net(), net(), net()))
    for k, opt in (m, a), (n, b), (o, c):
        train(k, opt, 5)
    grad = n[0].weight.grad.clone()
    assert mcz.torch.permute(n, ORDER, GROUPS, optimizer=b) is n
    assert torch.equal(n[0].weight.grad, grad[ORDER["one"]])
    mcz.torch.permute(o, ORDER, GROUPS)
    for k, opt in (m, a), (n, b), (o, c):
        train(k, opt, 5, 5)
    mcz.torch.permute(m, ORDER, GROUPS)
    assert apart(m, n) < 1e-6 and apart(m, o) > 1e-4, (make, apart(m, n), apart(m, o))

(m, a), (n, b) = ((n, [torch.optim.SGD(n[:3].parameters(), .1, .9), torch.optim.AdamW(n[3:].parameters(), .01)]) for n in (net(), net()))
for k, both in (m, a), (n, b):
    train(k, both, 5)
mcz.torch.permute(n, ORDER, GROUPS, optimizer=b)
for k, both in (m, a), (n, b):
    train(k, both, 5, 5)
mcz.torch.permute(m, ORDER, GROUPS)
assert apart(m, n) < 1e-6, apart(m, n)
with warnings.catch_warnings(record=True) as found:
    warnings.simplefilter("always")
    mcz.torch.permute(n, ORDER, GROUPS, optimizer=b[0])
assert any("parameters that move are in no given optimizer" in str(w.message) and "3.weight" in str(w.message) for w in found), found

fresh = net()
mcz.torch.permute(fresh, ORDER, GROUPS, optimizer=torch.optim.Adam(fresh.parameters()))  # no state yet
n = net()
opt = torch.optim.Adafactor(n.parameters())
train(n, opt, 2)
kept, state = copy.deepcopy(n), copy.deepcopy(opt.state_dict())
expect_error(["optimizer's state*permuted: \"row_var\"*0.weight, \"col_var\"*0.weight"],
             lambda: mcz.torch.permute(n, ORDER, GROUPS, optimizer=opt))
expect_error(["an optimizer*none*network's parameters"],
             lambda: mcz.torch.permute(n, ORDER, GROUPS, optimizer=torch.optim.SGD(net().parameters(), .1)))
assert apart(n, kept) == 0
END
