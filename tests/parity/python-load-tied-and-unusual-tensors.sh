# SPDX-License-Identifier: Apache-2.0
# mcz.torch.load accepts a tied tensor under any of its names, and refuses names of one tensor with different values. With
# strict=False it warns of these and of tensors that the weights lack, and refuses weights without a name of the network. Extra
# state is ignored. A value that is not a plain tensor, such as a quantised or sparse one, is refused in one line.
need_torch 2.4
export OMP_NUM_THREADS=1
$python -W ignore - <<'END'
import warnings
import numpy as np
import torch
from torch import nn
import mcz
import mcz.torch
from mcz.nn.state import tensors_of
from refusal import expect_error, has_words

class Tied(nn.Module):
    """One weight under three names, and one buffer under two."""
    def __init__(self, tie=True):
        super().__init__()
        self.a, self.b, self.c = (nn.Linear(5, 5) for _ in range(3))
        self.register_buffer("scale", torch.rand(5))
        self.register_buffer("same", self.scale if tie else torch.rand(5))
        if tie:
            self.b.weight = self.c.weight = self.a.weight

full = {k: v.clone() for k, v in Tied().state_dict().items()}
for kept in "a", "b", "c":
    names = [k for k in full if not k.endswith(".weight") or k[0] == kept]
    net = mcz.torch.load(Tied(), {k: full[k] for k in names if k != "same"})
    assert all(torch.equal(v, full[k]) for k, v in net.state_dict().items()), kept
expect_error(["1 missing (a.weight)"], lambda: mcz.torch.load(Tied(), {
    k: v for k, v in full.items() if not k.endswith("weight")}))
expect_error(["2 missing (b.weight, c.weight)"], lambda: mcz.torch.load(Tied(False), {
    k: v for k, v in full.items() if k not in ("b.weight", "c.weight")}))

# batch norm's counter, by which momentum=None weighs a batch
norm = nn.Sequential(nn.BatchNorm1d(5, momentum=None))
for _ in range(9):
    norm(torch.randn(4, 5))
for kept in 9, 0:
    weights = {k: v for k, v in norm.state_dict().items() if kept or "batches" not in k}
    net = mcz.torch.load(nn.Sequential(nn.BatchNorm1d(5, momentum=None)), weights)
    assert int(net[0].num_batches_tracked) == kept and torch.equal(net[0].running_mean, norm[0].running_mean), kept

# buffers that are missing; parameters that state_dict() hides or returns as copies
class Ordered(nn.Linear):
    def __init__(self):
        super().__init__(5, 5)
        self.register_buffer("order", torch.randperm(5))
class Hidden(nn.Linear):
    def state_dict(self, *args, **kwargs):
        found = super().state_dict(*args, **kwargs)
        return {self.kept + k: v.clone() if self.kept else v for k, v in found.items() if self.kept or k != "bias"}
with warnings.catch_warnings(record=True) as found:
    warnings.simplefilter("always")
    mcz.torch.load(Ordered(), nn.Linear(5, 5).state_dict())
    mcz.torch.load(Ordered(), Ordered().state_dict())
assert [str(w.message) for w in found] == ["the weights lack these buffers, which keep the network's values: order"], found
for kept, words in ("", "lacks parameters (bias)"), ("own.", "copies*other names (own.weight, own.bias)"):
    net = Hidden(5, 5)
    net.kept = kept
    expect_error([words], lambda: tensors_of(net))

# other values: refused, and the network is unchanged
loose, net = Tied(False).state_dict(), Tied()
before = {k: v.clone() for k, v in net.state_dict().items()}
expect_error(["3 tied*network (same:*other values*scale; b.weight:*other values*a.weight; c.weight:*"
              "other values than a.weight)"], lambda: mcz.torch.load(net, loose))
expect_error(["(c.weight:*other values*b.weight)"], lambda: mcz.torch.load(net, {
    **{k: v for k, v in full.items() if k != "a.weight"}, "c.weight": full["c.weight"] + 1}))
assert all(torch.equal(v, before[k]) for k, v in net.state_dict().items())
# strict=False: warnings, and an error if nothing would be copied
with warnings.catch_warnings(record=True) as found:
    warnings.simplefilter("always")
    mcz.torch.load(net, loose, strict=False)
    mcz.torch.load(Tied(), {"a.weight": full["a.weight"], "other": torch.ones(3)}, strict=False)
    mcz.torch.load(Tied(), {**full, "other": torch.ones(3)}, strict=False)
assert torch.equal(net.a.weight, loose["c.weight"]) and torch.equal(net.scale, loose["same"])
assert [str(w.message) for w in found] == [
    "names of one tensor have different values in the weights, and the last name counts (same, c.weight)",
    "the weights lack 4 of 5 tensors, which keep the network's values: scale, a.bias, b.bias, ..."], found
for weights, name in ({"x.weight": torch.ones(5, 5)}, "x.weight"), ({}, "none"):
    expect_error(["no tensor*weights*name of the network (such as \"scale\", got \"%s\")" % name], lambda: mcz.torch.load(
        Tied(), weights, strict=False))
# equal values: NaN, and values that the network's type rounds to one
mcz.torch.load(net, {k: torch.full_like(v, torch.nan) for k, v in full.items()})
assert net.a.weight.isnan().all()
mcz.torch.load(Tied().half(), {k: v.double() * (1 + 1e-12 * (k == "b.weight")) for k, v in full.items()})
# tensors without memory are not tied
for device in "cpu", "meta":
    assert mcz.nn.state.owners({k: torch.empty(3 * (device == "meta"), device=device) for k in "xy"}) == {"x": "x", "y": "y"}

class Extra(Tied):
    def get_extra_state(self):
        return self.state
    def set_extra_state(self, state):
        pass
for state in {"version": 1}, torch.zeros(3, dtype=torch.uint8), None:
    Extra.state = state
    net = Extra()
    assert not any("_extra_state" in k for k in tensors_of(net))
    net.inner = Extra()
    assert not any("_extra_state" in k for k in tensors_of(net))
    mcz.torch.load(net, net.state_dict())
    mcz.torch.load(Extra(), {**full, "_extra_state": {"any": "thing"}})
    mcz.torch.merge(Extra(), Extra())

def refused(name, words, call):
    try:
        call()
    except mcz.Error as e:
        assert "\"%s\"" % name in str(e) and has_words(e, words) and "\n" not in str(e), e
    else:
        assert False, name
for value, words in (([[1], "x"], "(got list)"), ({"x": 1}, "(got dict)"), (None, "(got NoneType)"), ("text", "(got str)"),
                     (torch.ones(5, 5).to_sparse(), "is not a plain tensor (got Tensor of float32)"),
                     (torch.quantize_per_tensor(torch.ones(5, 5), .1, 0, torch.qint8), "plain tensor (got Tensor of qint8)"),
                     (torch.nested.nested_tensor([torch.ones(5), torch.ones(4)]), "is not a plain tensor"),
                     (nn.parameter.UninitializedParameter(), "has no shape yet (run the network once)")):
    refused("b.weight", words, lambda: mcz.torch.load(Tied(), {**full, "b.weight": value}))
refused("0.weight", "has no shape yet", lambda: tensors_of(nn.Sequential(nn.LazyLinear(3))))
class Flattened(torch.Tensor):  # as wrappers of quantised weights
    def __tensor_flatten__(self):
        return [], None
refused("b.weight", "is not a plain tensor (got Flattened of float32)", lambda: mcz.torch.load(Tied(), {
    **full, "b.weight": torch.ones(5, 5).as_subclass(Flattened)}))
class Wrapped(nn.Module):
    def __init__(self, v):
        super().__init__()
        self.register_buffer("v", v)
refused("v", "is not a plain tensor", lambda: tensors_of(Wrapped(torch.eye(3).to_sparse())))
quantised = torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.Linear(4, 4)), {nn.Linear}, torch.qint8)
refused("0._packed_params.dtype", "is not a tensor (got dtype)", lambda: tensors_of(quantised))
END
