# SPDX-License-Identifier: Apache-2.0
# mc-pgd with the l2 norm, restarts and targets: a target is approached, and must not be the image's class.
fixture examples

$p -q --norm l2 --eps .5 1.mcz >l2.mcz
$p -q --steps 3 --log-json one.json 1.mcz >x.mcz
$p -q --steps 3 --restarts 3 --log-json three.json 1.mcz >x.mcz
$p -v --target 3 --log-json three-to.json 1.mcz 2>note >to.mcz
grep -q '% classified as the target' note
$p -q --target=+1 --log-json next.json 1.mcz >next.mcz
$p -q --start clean --eps 0 1.mcz >same.mcz
py <<'END'
clean = mcz.read("test.mcz").tensors["images"].astype(np.float32) / np.float32(255)
labels = mcz.read("test.mcz").tensors["labels"]
far = np.sqrt(((mcz.read("l2.mcz").tensors["images"].astype(np.float64) - clean) ** 2).sum((1, 2, 3)))
assert (far <= .5 + 1e-5).all() and far.mean() > .3
last = lambda name: json.loads(open(name + ".json").read().splitlines()[-1])
assert last("three")["loss"] >= last("one")["loss"] # the first start is the same
share = 100 * (labels == 3).mean()
assert last("three-to")["reached"] > share and last("next")["reached"] > 5
for name in "to", "next":
    assert (mcz.read(name + ".mcz").tensors["labels"] == labels).all()
assert (mcz.read("same.mcz").tensors["images"] == clean).all()
END
