# SPDX-License-Identifier: Apache-2.0
# Every public function of mcz.torch leaves its networks unchanged: weights, buffers, modes, hooks, attributes, gradients, and
# PyTorch's random numbers. The networks have a layer whose train() merges weights, as loralib's does, a module that counts its
# calls in a buffer, an attribute and a list, batch norm, dropout and a hook.
need_torch 2.4
export OMP_NUM_THREADS=1
$python - <<'END'

import mcz, mcz.torch, torch
from torch import nn
from torch.nn import functional as F

class LowRank(nn.Linear):  # as loralib.Linear: train(False) merges, train() separates
    def __init__(self, n):
        self.merged = None
        super().__init__(n, n)
        self.down, self.up, self.merged = nn.Parameter(torch.randn(2, n)), nn.Parameter(torch.randn(n, 2)), False

    def train(self, mode=True):
        super().train(mode)
        if self.merged is not None and mode == self.merged:
            self.weight.data += (self.up @ self.down).data * (-1 if mode else 1)
            self.merged = not mode
        return self

    def forward(self, x):
        y = F.linear(x, self.weight, self.bias)
        return y if self.merged else y + x @ self.down.T @ self.up.T

class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(1))
        self.last, self.sizes, self.table = None, [], {}

    def forward(self, x):
        if not torch.compiler.is_compiling():
            self.calls += 1
            self.last = self.table["last"] = x
            self.sizes.append(len(x))
        return x

def net(seed, counting=True):
    torch.manual_seed(seed)
    n = nn.Sequential(nn.Linear(5, 6), nn.BatchNorm1d(6), nn.ReLU(), LowRank(6), nn.ReLU(), nn.Dropout(), nn.Linear(6, 3),
                      Counting() if counting else nn.Identity())
    n[1].eval()  # frozen
    n(torch.randn(9, 5)).sum().backward()
    n[0].register_forward_hook(lambda m, x, y: None)
    return n

def snapshot(n):
    def value(v):
        return (id(v), v.clone(), v._version if isinstance(v, nn.Parameter) else 0) if isinstance(v, torch.Tensor) else (
            list(v.items()) if isinstance(v, dict) else list(v) if isinstance(v, list) else v)
    found = {(k, name): value(v) for k, m in n.named_modules() for name, v in vars(m).items()}
    found.update({k: value(v) for k, v in n.state_dict(keep_vars=True).items()})
    found.update({k + ".grad": value(p.grad) for k, p in n.named_parameters()})
    return found

def same(x, y):
    if isinstance(x, torch.Tensor):
        return torch.equal(x, y)
    if isinstance(x, (tuple, list)):
        return len(x) == len(y) and all(map(same, x, y))
    return x is y or x == y

x = torch.randn(32, 5)
data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, torch.randint(3, (32,))), 8, shuffle=True)
declared = {"one": {"out": ["0.*:0", "1.*:0"], "in": ["3.weight:1", "3.down:1"], "at": "2"},
            "two": {"out": ["3.weight:0", "3.bias:0", "3.up:0"], "in": ["6.weight:1"], "at": "4"}}
plain = [net(s, False) for s in (1, 2, 3)]
derived = mcz.torch.groups(plain[0], x[:2])
nets, spare = [net(s) for s in (1, 2, 3)], [net(2), net(4)]
a, b, c = nets
p, joint = mcz.torch.align(a, b, data, declared), mcz.torch.align_many(nets, data, declared)
curve = mcz.torch.Curve(a, b, p)
curve.save("c.mcz")
CALLS = {
    "align": lambda: mcz.torch.align(a, b, data, declared),
    "align by weights": lambda: mcz.torch.align(a, b, None, declared, by="weights"),
    "align_many": lambda: mcz.torch.align_many(nets, data, declared),
    "moments": lambda: mcz.torch.moments(a, b, data, declared, "m.mcz"),
    "moments of derived groups": lambda: mcz.torch.moments(*plain[1:], data, derived, "m.mcz"),
    "merge": lambda: mcz.torch.merge(a, b, p, loader=data),
    "merge_many": lambda: mcz.torch.merge_many(nets, joint, loader=data),
    "Curve": lambda: mcz.torch.Curve(a, b, p),
    "Curve.train": lambda: curve.train(data, epochs=1, progress=False),
    "Curve.evaluate": lambda: curve.evaluate({"data": data}, points=2, progress=False),
    "Curve.point": lambda: curve.point(.5, data),
    "Curve.load": lambda: mcz.torch.Curve.load("c.mcz", a),
    "permute": lambda: mcz.torch.permute(spare[0], p, declared),
    "save": lambda: mcz.torch.save(a, "a.mcz", declared),
    "load": lambda: mcz.torch.load(spare[1], a.state_dict()),
    "groups": lambda: mcz.torch.groups(plain[1], x[:2]),
    "align with derived groups": lambda: mcz.torch.align(*plain[1:], data),
    "canonical": lambda: mcz.torch.canonical(plain[1], x[:2]),
}
for name, call in CALLS.items():
    before, state = [snapshot(n) for n in nets + plain], torch.get_rng_state()
    call()
    assert torch.equal(torch.get_rng_state(), state), "%s: random numbers" % name
    for i, (n, old) in enumerate(zip(nets + plain, before)):
        new = snapshot(n)
        changed = [k for k in {**old, **new} if not (k in old and k in new and same(old[k], new[k]))]
        assert not changed, "%s changes network %d: %s" % (name, i, changed)
# results are in evaluation mode, and merge like others
for result in CALLS["merge"](), CALLS["merge_many"](), CALLS["Curve.point"]():
    assert not any(m.training for m in result.modules()) and result[3].merged
merged = mcz.torch.merge(a, b)
w = sum(n[3].weight for n in (a, b)) / 2 + sum(n[3].up for n in (a, b)) @ sum(n[3].down for n in (a, b)) / 4
assert torch.allclose(merged[3].weight, w, atol=1e-6)
# an embedding that shortens the rows that it reads
words = [nn.Sequential(nn.Embedding(7, 5, max_norm=.1), nn.Linear(5, 3)) for _ in range(2)]
before = [n[0].weight.detach().clone() for n in words]
ids = {"h": {"out": ["0.weight:1"], "in": ["1.weight:1"], "at": "0"}}
p = mcz.torch.align(*words, [torch.arange(7)], ids)
mcz.torch.Curve(*words, p).evaluate([(torch.arange(7), torch.zeros(7).long())], points=2, progress=False)
assert all(torch.equal(n[0].weight, w) for n, w in zip(words, before))
END
