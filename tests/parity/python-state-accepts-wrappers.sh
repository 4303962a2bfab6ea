# SPDX-License-Identifier: Apache-2.0
# --state and mcz.torch.load accept the names that torch.compile, DataParallel, AveragedModel and Lightning save, at any
# depth. Names of the network's own submodules are unchanged, and two names of one tensor are refused. bfloat16 and float16
# keep each value, rounding is reported, integers do not become weights, and a damaged file is a one-line error.
need_torch 2.4
export PYTHONPATH=$PYTHONPATH:$PWD OMP_NUM_THREADS=1
cat >nets.py <<'END'
import torch
from torch import nn

class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU())
        self.fc = nn.Linear(4, 10)

    def forward(self, x):
        return self.fc(self.body(x).mean((2, 3)))

class Own(nn.Module):  # submodules with the names that wrappers add
    def __init__(self):
        super().__init__()
        self.module, self.model = nn.Conv2d(3, 4, 3), nn.ModuleDict({"_orig_mod": nn.Linear(4, 10)})

    def forward(self, x):
        return self.model["_orig_mod"](torch.relu(self.module(x)).mean((2, 3)))
END
cat >save.py <<'END'
import torch, nets
from torch.optim.swa_utils import AveragedModel
torch.manual_seed(6)
plain, own = nets.Plain(), nets.Own()
plain(torch.rand(4, 3, 8, 8))
torch.save(plain.state_dict(), "plain.pt")
torch.save(own.state_dict(), "own.pt")
def saved(path, net, prefix="", **more):
    torch.save({**{prefix + k: v for k, v in net.state_dict().items()}, **more}, path)
saved("compiled.pt", plain, "_orig_mod.")
saved("parallel.pt", plain, "module.")
saved("both.pt", plain, "_orig_mod.module.")
torch.save(AveragedModel(plain).state_dict(), "averaged.pt")
assert "n_averaged" in torch.load("averaged.pt")
torch.save({"state_dict": {"model." + k: v for k, v in plain.state_dict().items()}, "epoch": 3, "global_step": 7,
            "pytorch-lightning_version": "2.0.0", "loops": {}, "callbacks": {}, "optimizer_states": []}, "lightning.ckpt")
torch.save({k.replace("body.", "body.module."): v for k, v in plain.state_dict().items()}, "inside.pt")
saved("twice.pt", plain, "module.", **{"fc.bias": torch.zeros(10)})
END
$python save.py
export="$python -m mcz.torch export --input 3,8,8 --classes 10"
for s in plain.pt compiled.pt parallel.pt both.pt averaged.pt lightning.ckpt inside.pt; do
    $export nets:Plain --state $s --weights $s.safetensors
    same plain.pt.safetensors $s.safetensors
    $export nets:Plain --state plain.pt.safetensors --weights again.safetensors
    same plain.pt.safetensors again.safetensors
done
$export nets:Own --state own.pt --weights own.safetensors
$python - <<'END'
import mcz.torch, numpy as np, torch, nets, warnings
from mcz import safetensors
from refusal import expect_error
plain, own = torch.load("plain.pt"), torch.load("own.pt")
for path, state in ("plain.pt.safetensors", plain), ("own.safetensors", own):
    got = safetensors.read(path)
    assert set(got) == {k for k in state if not k.endswith("num_batches_tracked")}
    assert all((v == state[k].numpy()).all() for k, v in got.items())
def loaded(state, net=None):
    return mcz.torch.load(net or nets.Plain(), state).state_dict()
def equal(got, want):
    return all(torch.equal(got[k].float(), v.float()) for k, v in want.items() if v.is_floating_point())
warnings.simplefilter("error")
assert equal(loaded(torch.load("averaged.pt")), plain) and equal(loaded(torch.load("own.pt"), nets.Own()), own)
assert equal(loaded({"_orig_mod." + k: v for k, v in own.items()}, nets.Own()), own)
expect_error(["\"fc.bias\" and \"module.fc.bias\"", "are both fc.bias"], lambda: loaded(
    {"fc.bias": plain["fc.bias"], **{"module." + k: v for k, v in plain.items()}}))
# any other prefix is refused
expect_error(["8 missing (body.0.weight, body.0.bias, body.1.weight, ...)", "8 unknown (net.body.0.weight, "], lambda: loaded(
    {"net." + k: v for k, v in plain.items()}))

# halves are exact
for dtype in torch.bfloat16, torch.float16:
    halves = {k: v.to(dtype) if v.is_floating_point() else v for k, v in plain.items()}
    assert equal(loaded(halves), halves) and not equal(halves, plain)
raw = {k: v.to(torch.bfloat16).view(torch.int16).numpy() for k, v in plain.items() if v.is_floating_point()}
import json, struct
at, head = 0, {}
for k, v in raw.items():
    head[k] = {"dtype": "BF16", "shape": list(v.shape), "data_offsets": [at, at + v.nbytes]}
    at += v.nbytes
text = json.dumps(head).encode()
with open("bf16.safetensors", "wb") as f:
    f.write(struct.pack("<Q", len(text)) + text + b"".join(v.tobytes() for v in raw.values()))
assert equal(loaded("bf16.safetensors"), {k: plain[k].to(torch.bfloat16) for k in raw})
# rounding to the network's dtype is reported; another kind of number is refused
double = {k: v.double() + 1e-12 if v.is_floating_point() else v for k, v in plain.items()}
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    got = loaded(double)
    assert equal(got, {k: v.float() for k, v in double.items() if v.is_floating_point()})
    assert [str(w.message) for w in seen] and " tensors are rounded: " in str(seen[0].message), seen
    loaded({k: v.double() if v.is_floating_point() else v for k, v in plain.items()})
    loaded({k: v * float("nan") for k, v in plain.items() if v.is_floating_point()})
    assert len(seen) == 1, seen
expect_error(["fc.bias: float32 expected*got int64"], lambda: loaded({**plain, "fc.bias": torch.ones(10, dtype=torch.int64)}))
expect_error(["fc.bias: float32 expected*got bool"], lambda: loaded({**plain, "fc.bias": np.ones(10, bool)}))
expect_error(["fc.bias: float32 expected*got complex64"], lambda: loaded({**plain, "fc.bias": np.ones(10, "c8")}))
counts = torch.nn.Module()
counts.register_buffer("n", torch.zeros(2, dtype=torch.int32))
expect_error(["n: int32 expected*got int64"], lambda: loaded({"n": torch.tensor([1, 1 << 40])}, counts))
assert loaded({"n": torch.tensor([1, 7])}, counts)["n"].tolist() == [1, 7]
torch.save(double, "double.pt")
perm = {"fc": [0., 1.7, 2.]}
expect_error(["\"fc\": integers*expected, got float64"], lambda: mcz.torch.permute(torch.nn.Linear(2, 3), perm, {
    "fc": {"out": ["*:0"]}}))
END
$export nets:Plain --state bf16.safetensors --weights x.safetensors
$export nets:Plain --state double.pt --weights x.safetensors 2>err
grep -q '^mcz.torch: nets:Plain: [0-9]* of [0-9]* tensors are rounded: .* from float64 to float32$' err || die "$(cat err)"

rm x.safetensors
fails 3 'load twice.pt: "module.fc.bias"*"fc.bias"*both fc.bias' $export nets:Plain --state twice.pt --weights x.safetensors
$python -c 'import torch; torch.save([1, 2], "list.pt")'
fails 3 'load list.pt: state_dict expected*got list' $export nets:Plain --state list.pt --weights x.safetensors
fails 1 'No such file' $export nets:Plain --state none.pt --weights x.safetensors
head -c 300 plain.pt.safetensors >cut.safetensors
head -c 300 plain.pt >cut.pt
printf '\x0a\0\0\0\0\0\0\0{"a":1,"a"' >torn.safetensors
for f in cut.safetensors torn.safetensors cut.pt; do
    fails 3 "$f: " $export nets:Plain --state $f --weights x.safetensors
done
[ ! -e x.safetensors ] || die 'an output was written'
