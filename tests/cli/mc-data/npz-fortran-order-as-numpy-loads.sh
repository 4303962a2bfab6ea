# SPDX-License-Identifier: Apache-2.0
# mc-data npz reads arrays in Fortran order as numpy.load does, with every dtype and layout, above the size of one read.
py <<'PY'
r = np.random.default_rng(4)
x = r.integers(0, 256, (50, 3, 37, 41), dtype=np.uint8)
y = r.integers(0, 4, 50)
sets = {"nchw": x, "nhwc": x.transpose(0, 2, 3, 1), "grey": x[:, 0], "one": x[:, :1]}
sets.update({t: (x / 255).astype(t) for t in ("f2", "f4", "f8")})
for name, a in sets.items():
    for order, f in ("c", np.ascontiguousarray), ("f", np.asfortranarray):
        np.savez("%s-%s.npz" % (name, order), x=f(a), y=f(y[:, None]))
    assert np.load(name + "-f.npz")["x"].flags.fnc
np.savez_compressed("packed-f.npz", x=np.asfortranarray(x), y=y)
np.savez("packed-c.npz", x=x, y=y)
PY
for n in nchw nhwc grey one f2 f4 f8 packed; do
    mc-data npz -q $n-c.npz -o c.mcz
    mc-data npz -q $n-f.npz | same c.mcz -
done
py <<'PY' || die "not what numpy.load returns"
import subprocess
subprocess.run("mc-data npz -q nhwc-f.npz -o nhwc.mcz; mc-data npz -q f8-f.npz -o f8.mcz", shell=True, check=True)
nhwc, f8 = np.load("nhwc-f.npz"), np.load("f8-f.npz")
assert (mcz.read("nhwc.mcz").tensors["images"] == nhwc["x"].transpose(0, 3, 1, 2)).all()
assert (mcz.read("nhwc.mcz").tensors["labels"] == nhwc["y"][:, 0]).all()
assert (mcz.read("f8.mcz").tensors["images"] == f8["x"].astype("f4")).all()
PY
# a file that ends within the array
head -c 100000 nchw-f.npz >cut.npz
cp c.mcz old.mcz
mc_data_fails 3 "cut.npz" npz cut.npz
