# SPDX-License-Identifier: Apache-2.0
# mc-convert --map translates names of other repositories in both directions.
mc-data synth --samples 20 -o data.mcz
mc-train -q -t 1 --net resnet20 --data data.mcz --epochs 0 -o r.mcz
for map in kuangliu hysts; do
    mc-convert r.mcz --map "$MC_ROOT/formats/exchange/maps/$map.map" -o $map.npz
    mc-convert $map.npz --map "$MC_ROOT/formats/exchange/maps/$map.map" --net resnet20 --data data.mcz -o x.mcz
    same_content r.mcz x.mcz
done
mc-convert r.mcz -o r.npz
py <<'END'
# names copied from the modules of these repositories
def norm(n): return [n + "." + k for k in ("weight", "bias", "running_mean", "running_var")]
def kuangliu():
    names = ["conv1.weight"] + norm("bn1")
    for s in (1, 2, 3):
        for b in (0, 1, 2):
            p = "layer%d.%d." % (s, b)
            names += [p + "conv1.weight", p + "conv2.weight"] + norm(p + "bn1") + norm(p + "bn2")
            names += [p + "shortcut.0.weight"] + norm(p + "shortcut.1") if s > 1 and b == 0 else []
    return names + ["linear.weight", "linear.bias"]
def hysts():
    names = ["conv.weight"] + norm("bn")
    for s in (1, 2, 3):
        for b in (1, 2, 3):
            p = "stage%d.block%d." % (s, b)
            names += [p + "conv1.weight", p + "conv2.weight"] + norm(p + "bn1") + norm(p + "bn2")
            names += [p + "shortcut.conv.weight"] + norm(p + "shortcut.bn") if s > 1 and b == 1 else []
    return names + ["fc.weight", "fc.bias"]
for got, want in (np.load("kuangliu.npz"), kuangliu()), (np.load("hysts.npz"), hysts()):
    assert sorted(got) == sorted(want), set(got) ^ set(want)
ours, theirs = np.load("r.npz"), np.load("hysts.npz")
assert (ours["layer3.0.downsample.0.weight"] == theirs["stage3.block1.shortcut.conv.weight"]).all()
wrapped = {"net.module." + n: v for n, v in ours.items()}
np.savez("wrapped.npz", **wrapped, **{"net.normalize.mean": np.zeros(3, np.float32)})
END
printf '# wrapped\n\nnet.normalize\t-\r\nnet.module   . # the root\n' >wrapped.map
mc-convert -v wrapped.npz --map wrapped.map --like r.mcz -o x.mcz 2>note
[ "$(id r.mcz)" = "$(id x.mcz)" ] && grep -q '1 tensor left out' note || die "wrapped: $(cat note)"
mc-convert r.mcz --map <(cat wrapped.map) -o x.npz
/usr/bin/python3 -c 'import numpy as np; assert all(n.startswith("net.module.") for n in np.load("x.npz"))'
