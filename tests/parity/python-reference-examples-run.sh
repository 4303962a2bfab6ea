# SPDX-License-Identifier: Apache-2.0
# Every example of docs/reference/python.md runs.
need_torch 2.4
export PYTHONPATH=$PYTHONPATH:$MC_ROOT/pipelines/setup OMP_NUM_THREADS=1
$python - <<'END'
import copy, json, os, pickle, subprocess
import mcz, mcz.data, mcz.groups, mcz.safetensors, mcz.torch, numpy as np, reference_python, torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.bn, self.fc = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Linear(8, 10)

    def forward(self, x):
        return self.fc(self.bn(self.conv(x)).relu().mean((2, 3)))


torch.manual_seed(1)
net, a, b = Net(), Net(), Net()
x, labels = torch.rand(24, 3, 16, 16), torch.arange(24) % 10
loader = list(zip(x.split(8), labels.split(8)))
groups = mcz.torch.groups(a, x)
p = mcz.torch.align(a, b, loader, groups, path="p.mcz")
curve = mcz.torch.Curve(a, b, p)
nets = a, b, Net()
names = dict(globals(), g=groups, c=curve, test=loader, rows=curve.evaluate({"test": loader}, points=3),
             images=(255 * x).byte().numpy(), labels=labels.numpy())
mcz.torch.save(a, "a.mcz", groups)
mcz.torch.moments(a, b, loader, groups, "m.mcz")
for i, j in (0, 1), (0, 2), (1, 2):
    mcz.torch.moments(nets[i], nets[j], loader, groups, "pair.mcz")
    subprocess.run(["mc-corr", "-q", "pair.mcz", "-o", "m%d%d.mcz" % (i, j)], check=True)
subprocess.run(["mc-hungarian", "-q", "--joint", "m01.mcz", "m02.mcz", "m12.mcz", "-o", "joint.mcz"], check=True)
curve.save("curve.mcz")
groups.write("groups.tsv")
open("damaged.mcz", "wb").write(open("a.mcz", "rb").read()[:-9])
os.mkdir("cifar-10-batches-py")
pickle.dump({b"data": np.zeros((2, 3072), np.uint8), b"labels": [1, 2]}, open("cifar-10-batches-py/test_batch", "wb"), 2)
mine = set(os.listdir())
found = dict(reference_python.examples())
for name, code in found.items():
    try:
        exec(code, copy.copy(names))
    except Exception as e:
        raise SystemExit("%s: %s: %s\n%s" % (name, type(e).__name__, e, code))
assert len(found) > 35 and {"line.tsv", "curve.log.json", "net.json", "a.safetensors"} <= set(os.listdir()) - mine
print(len(found), "examples")
END
