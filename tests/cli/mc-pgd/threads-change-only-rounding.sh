# SPDX-License-Identifier: Apache-2.0
# mc-pgd on other threads and batches differs only in rounding.
fixture examples

p+=" -q --eps 8/255 --steps 1"
$p 1.mcz >one.mcz
$p -t 2 1.mcz >two.mcz
$p --batch 50 1.mcz >fifty.mcz
# the first images alone are attacked in the same way
$p --samples $((test - 7)) 1.mcz >some.mcz
py $((test - 7)) <<'END'
one = mcz.read("one.mcz").tensors["images"]
for name in "two", "fifty", "some":
    x = mcz.read(name + ".mcz").tensors["images"]
    assert len(x) == (int(sys.argv[1]) if name == "some" else len(one))
    off = np.abs(x - one[:len(x)]) > 1e-5
    print(name, off.mean())
    assert off.mean() < 1e-3, (name, off.mean()) # the sign of a gradient near 0 may change
END
