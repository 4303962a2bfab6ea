# SPDX-License-Identifier: Apache-2.0
# NumPy and a minimal reader see the same names, shapes, order and bits in mc-convert's outputs.
fixture converted

mc-convert a.mcz -o a.safetensors
py <<'END'
import safetensors_reader
a = mcz.read("a.mcz").tensors
want = {}
for name in a:  # a state_dict's order: module by module
    module = name.rsplit(".", 1)[0]
    for kind in ("weight", "bias", "running_mean", "running_var"):
        if module + "." + kind in a:
            want[module + "." + kind] = a[module + "." + kind]
assert len(want) == len(a) == 50
for got in (np.load("a.npz"), safetensors_reader.read("a.safetensors")):
    assert list(got) == list(want)
    for name, v in want.items():
        assert got[name].dtype == np.float32 and got[name].shape == v.shape, name
        assert got[name].tobytes() == v.tobytes(), name
END
