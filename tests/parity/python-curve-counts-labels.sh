# SPDX-License-Identifier: Apache-2.0
# mcz.torch.Curve counts the labels that are not -100: the loss is their mean over batches of any size and length, and so is the
# accuracy. A loss of the user's own gets the whole output, and its mean weighs the inputs. Batches are pairs or dictionaries.
need_torch 2.4
export OMP_NUM_THREADS=1
$python - <<'END'
import functools, json, warnings
import mcz, mcz.torch, torch
from refusal import expect_error
from torch import nn
from torch.nn import functional as F


class Tagger(nn.Module):
    def __init__(self, seed=0, form=lambda logits, hidden: logits):
        super().__init__()
        torch.manual_seed(seed)
        self.embed, self.head, self.form = nn.Embedding(7, 5), nn.Linear(5, 4), form

    def forward(self, ids, mask=None):
        hidden = torch.tanh(self.embed(ids))
        return self.form(self.head(hidden).transpose(1, 2), hidden)


def batch(n, length, ignored):
    x, y = torch.randint(7, (n, length)), torch.randint(4, (n, length))
    return x, y.masked_fill(torch.rand(n, length) < ignored, -100)


torch.manual_seed(3)
data = [batch(4, 6, .2), batch(3, 9, .7), batch(1, 2, 2.), batch(2, 1, 0.)]  # the third has no labels that count
named = [{"ids": x, "labels": y} for x, y in data]
net = Tagger()
with torch.no_grad():
    total = sum(float(F.cross_entropy(net(x), y, reduction="sum")) for x, y in data)
    right = sum(int((net(x).argmax(1) == y).sum()) for x, y in data)
n = sum(int((y >= 0).sum()) for _, y in data)
forms = (lambda o, h: o, lambda o, h: (o, h), lambda o, h: {"hidden": h, "logits": o})
for form in forms:
    line = mcz.torch.Curve(Tagger(form=form), Tagger(form=form), control_points=0)
    for batches in data, named, [({"ids": x}, y) for x, y in data]:
        row = line.evaluate(batches, points=2, progress=False)[0]
        assert abs(row["data.loss"] - total / n) < 1e-6 and abs(row["data.accuracy"] - 100 * right / n) < 1e-9, (row, total / n)

# training: the log's means of a curve that stays, at a learning rate of 0
curve = mcz.torch.Curve(Tagger(), Tagger())
for batches in data, named:
    curve.train(batches, epochs=1, lr=0, decay=0, log="log", progress=False)
    row = json.load(open("log"))
    assert abs(row["loss"] - total / n) < 1e-6 and abs(row["accuracy"] - 100 * right / n) < 1e-9, row
curve.train(data, epochs=3, lr=.5, progress=False)
assert curve.evaluate(data, points=3, progress=False)[1]["data.loss"] < total / n

# the user's own loss: the whole output; a mean over a batch, weighed by its inputs
seen = []


def own(output, y):
    seen.append(output)
    return output["hidden"].square().mean()


line = mcz.torch.Curve(Tagger(form=forms[2]), Tagger(form=forms[2]), control_points=0)
expected = sum(len(x) * float(torch.tanh(net.embed(x)).square().mean()) for x, _ in data) / 10
for batches in data, named, [{"ids": x} for x, _ in data]:
    row = line.evaluate(batches, points=2, loss=own, progress=False)[0]
    labels = batches is data or "labels" in batches[0]
    assert abs(row["data.loss"] - expected) < 1e-6 and ("data.accuracy" in row) == labels, row
assert all(set(o) == {"hidden", "logits"} for o in seen)
# labels that are longer than the batch, as those of CTC, do not change its weight
linear = mcz.torch.Curve(nn.Linear(5, 4), nn.Linear(5, 4), control_points=0)
ones, several = ([(torch.ones(n, 5) * n, (torch.zeros(k), n)) for n, k in ((2, 3), (6, s))] for s in (5, 50))
losses = [linear.evaluate(v, points=2, loss=lambda o, y: o.sum() * 0 + y[1], progress=False)[0] for v in (ones, several)]
assert [r["data.loss"] for r in losses] == [(2 * 2 + 6 * 6) / 8] * 2, losses
class Own(nn.Module):
    reduction = "sum"
    def forward(self, output, y):
        return output.sum()
for total in nn.MSELoss(reduction="sum"), functools.partial(F.mse_loss, reduction="sum"), Own():
    expect_error(['loss must be a mean*"sum"'], lambda: linear.evaluate([(torch.ones(2, 5), torch.zeros(2, 4))], loss=total))
# labels that your own loss ignores, and numbers above the classes of the outputs
line = mcz.torch.Curve(Tagger(), Tagger(), control_points=0)
marked = [(x, y.masked_fill(y < 0, 3)) for x, y in data]
others = sum(int((y != 3).sum()) for _, y in marked)
with torch.no_grad():
    hits = sum(int(((net(x).argmax(1) == y) & (y != 3)).sum()) for x, y in marked)
for ignoring in nn.CrossEntropyLoss(ignore_index=3), functools.partial(F.cross_entropy, ignore_index=3):
    row = line.evaluate([v for v in marked if (v[1] != 3).any()], points=2, loss=ignoring, progress=False)[0]
    assert abs(row["data.accuracy"] - 100 * hits / others) < 1e-9, row
row = linear.evaluate([(torch.randn(6, 5), torch.tensor([0, 5000, 3, 2, 1, 0]))], points=2, loss=lambda o, y: o.mean(), progress=False)[0]
assert "data.accuracy" not in row, row
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for last in nn.Softmax(1), nn.LogSoftmax(1):
        ends = [nn.Sequential(nn.Linear(5, 4), last) for _ in range(2)]
        mcz.torch.Curve(*ends).evaluate([(torch.randn(6, 5), torch.zeros(6).long())], points=2, progress=False)
assert {str(w.message) for w in caught} == {"the outputs seem to be probabilities: cross entropy expects logits"}, caught
# of several outputs that fit the labels, the first are the logits
class Both(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body, self.head = nn.Linear(5, width), nn.Linear(width, 3)
    def forward(self, x):
        h = self.body(x)
        return h, self.head(h)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for width in 4, 3:
        both, six = mcz.torch.Curve(Both(width), Both(width)), [(torch.randn(6, 5), torch.zeros(6).long())]
        both.evaluate(six, points=2, progress=False)
        row = both.evaluate(six, points=2, loss=lambda o, y: F.cross_entropy(o[1], y), progress=False)[0]
        assert ("data.accuracy" in row) == (width == 3), row
assert {str(w.message) for w in caught} == {
    "the first of several outputs, with 4 classes, is taken for the logits (another has 3)"}, [str(w.message) for w in caught]
# labels of a narrow type, in which -100 is 156
wide = mcz.torch.Curve(nn.Linear(5, 200), nn.Linear(5, 200), control_points=0)
x, y = torch.randn(6, 5), torch.tensor([156, 3, 156, 199, 0, 7])
rows = [wide.evaluate([(x[:3], labels[:3]), (x[3:], labels[3:])], points=2, progress=False)
        for labels in (y, y.to(torch.uint8), y.to(torch.int16))]
assert rows[0] == rows[1] == rows[2], rows
NONE = [(x, torch.full_like(x, -100)) for x, _ in data]
expect_error(["data: no labels*-100"], lambda: line.evaluate(NONE, points=2))
expect_error(["no labels*-100"], lambda: mcz.torch.Curve(net, net).train(NONE, epochs=1))
for bad in [{"ids": x} for x, _ in data], [(*b, 0) for b in data]:
    expect_error(["batches (x, y)*inputs*labels expected", "or dictionaries"], lambda: line.evaluate(bad, points=2))
text = lambda o, h: "text"
expect_error(["logits expected*str (your own loss="], lambda: mcz.torch.Curve(
    Tagger(form=text), Tagger(form=text)).train(data, epochs=1))
END
