# SPDX-License-Identifier: Apache-2.0
# mc-eval --attack agrees with mc-pgd's examples and, for one step, with NumPy; the worst of three restarts is worse.
fixture attacked

mc-eval -q --data test.mcz --batch 64 -t 1 --attack $attack n1.mcz | cut -f 1,4,5 | sed 1d >one-pass
mc-pgd -q --data test.mcz --batch 64 --eps 4/255 --step 2/255 --steps 2 -t 1 n1.mcz |
    mc-eval -q --data - --batch 64 -t 1 n1.mcz | sed 1d | same - one-pass
# the worst of three restarts is worse; a target differs from an untargeted attack
one() { mc-eval -q --data test.mcz --batch 64 -t 1 --attack "$1" n1.mcz | column /dev/stdin test.robust.loss; }
awk -v a="$(one pgd:eps=4/255,steps=1)" -v b="$(one pgd:eps=4/255,steps=1,restarts=3)" 'BEGIN { exit !(b > a) }' ||
    die 'restarts are not worse'
[ "$(one pgd:eps=4/255,steps=1,target=0)" != "$(one pgd:eps=4/255,steps=1,target=+1)" ]
mc-train -q --net mlp:16 --no-normalise --data d.mcz --epochs 1 --lr 0.02 -t 1 -o m.mcz
mc-eval --data test.mcz --attack pgd:eps=2/255,step=1/255,steps=1,start=clean m.mcz -o fgsm.tsv
py <<'END'
w = {k: v.astype(float) for k, v in mcz.read("m.mcz").tensors.items()}
d = mcz.read("test.mcz").tensors
x = d["images"].reshape(150, -1) / 255.0
y = d["labels"]

def run(x):
    h = x @ w["layers.0.linear.weight"].T + w["layers.0.linear.bias"]
    z = np.maximum(h, 0) @ w["dense.weight"].T + w["dense.bias"]
    p = np.exp(z - z.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    dz = p.copy()
    dz[np.arange(150), y] -= 1
    return -np.log(p[np.arange(150), y]).mean(), 100 * (z.argmax(1) == y).mean(), \
        (dz @ w["dense.weight"] * (h > 0)) @ w["layers.0.linear.weight"]

loss, accuracy, g = run(x)
robust = run(np.clip(x + np.sign(g) / 255, 0, 1))
got = [float(v) for v in list(open("fgsm.tsv"))[1].split("\t")[1:]]
want = [loss, accuracy, robust[0], robust[1]]
assert robust[0] > loss + .01
for a, b, off in zip(got, want, [1e-4, .7, 1e-3, .7]):   # .7%: one image of 150
    assert abs(a - b) < off, (got, want)
END
