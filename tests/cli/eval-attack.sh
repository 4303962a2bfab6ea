# SPDX-License-Identifier: Apache-2.0
# mc-eval --attack: robust figures beside the clean ones, which stay the same bytes; one step of a network
# without batch norm as NumPy computes it; a killed run goes on to the same bytes.
. "$MC_ROOT/tests/cli/lib.bash"

mc-data synth --samples 384 --seed 3 -o d.mcz
mc-data synth --split test --samples 150 --seed 3 -o test.mcz
attack=pgd:eps=4/255,step=2/255,steps=2
for s in 1 2; do
    mc-train -q --net mlp:bn,16 --no-normalise --data d.mcz --epochs 1 --lr 0.05 --batch 64 --seed $s -t 1 \
        --attack $attack -o n$s.mcz
done
mc-bezier -q --epochs 0 n1.mcz n2.mcz -o line.mcz

e="mc-eval -q --data d.mcz --data held=test.mcz --bn-data d.mcz --points 3 --batch 64 -t 1"
$e line.mcz -o clean.tsv
$e --attack $attack --summary s.tsv line.mcz -o robust.tsv
[ "$(head -n 1 robust.tsv | cut -f 6-)" = \
    "$(printf 'train.robust.loss\ttrain.robust.accuracy\theld.robust.loss\theld.robust.accuracy')" ]
cut -f 1-5 robust.tsv | same - clean.tsv
awk -F '\t' 'NR > 1 && !($6 > $2 && $8 > $4 && $7 <= $3 && $9 <= $5) { exit 1 }' robust.tsv ||
    die "the attack helps: $(cat robust.tsv)"
[ "$(cut -f 1 s.tsv | uniq | paste -sd ' ')" = 'data train held train.robust held.robust' ]
for d in train held; do
    for q in loss accuracy; do
        awk -F '\t' -v d=$d.robust -v q=$q '$1 == d && $2 == q { printf "%.3f %.3f\n", $3, $4 }' s.tsv |
            same - <(column robust.tsv $d.robust.$q | sed '2d' | xargs printf '%.3f %.3f\n')
    done
done
# a ball of nothing is no attack
$e --attack pgd:eps=0 line.mcz -o nothing.tsv
same <(cut -f 6- nothing.tsv | sed 1d) <(cut -f 2-5 clean.tsv | sed 1d)
# nor is it for a network with convolutions
mc-train -q --net $net --data test.mcz --epochs 0 -t 1 -o c.mcz
mc-eval -q --data test.mcz --test-samples 40 --batch 32 -t 1 --attack pgd:eps=0,steps=1 c.mcz -o c.tsv
same <(cut -f 2,3 c.tsv | sed 1d) <(cut -f 4,5 c.tsv | sed 1d)
mc-eval -q --data test.mcz --test-samples 40 --batch 32 -t 1 c.mcz | same - <(cut -f 1-3 c.tsv)
# what mc-pgd writes and mc-eval then reads is the same
mc-eval -q --data test.mcz --batch 64 -t 1 --attack $attack n1.mcz | cut -f 1,4,5 | sed 1d >one-pass
mc-pgd -q --data test.mcz --batch 64 --eps 4/255 --step 2/255 --steps 2 -t 1 n1.mcz |
    mc-eval -q --data - --batch 64 -t 1 n1.mcz | sed 1d | same - one-pass
# a point's figures are its own: neither the other points nor the blocks touch them
$e --points 5 --attack $attack line.mcz | sed -n '2p;4p;6p' | same - <(sed 1d robust.tsv)
r="$e --attack $attack --checkpoint ck --checkpoint-every 2 --resume line.mcz"
$r | same - robust.tsv
cp ck whole.ck
$r -o again.tsv
same again.tsv robust.tsv
same ck whole.ck
/usr/bin/python3 - "$MC_ROOT" <<'END'
import sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import mcz
s = mcz.read("ck")
tensors = {k: v.copy() for k, v in s.tensors.items()}
for v in tensors.values():
    v[2 * len(v) // 3:] = 0
mcz.write("half.ck", s.kind, dict(s.meta, epoch=2), tensors)
for v in tensors.values():   # a point's robust figures begin with the images as well
    v.view("f8")[5] = -1
mcz.write("wrong.ck", s.kind, dict(s.meta, epoch=2), tensors)
END
cp half.ck ck
$r | same - robust.tsv
fails 3 'point 0 was measured on -1 of 384 images' $e --attack $attack --checkpoint wrong.ck --resume line.mcz
cp half.ck ck
fails 3 'was made with attack pgd:eps=0.0156862745' $r --attack pgd
fails 3 'half.ck' $e --checkpoint half.ck --resume line.mcz
fails 3 'half.ck' $e --attack $attack --bn-attack --checkpoint half.ck --resume line.mcz
# statistics of attacked images are others, those of a ball of nothing are not
$e --attack $attack --bn-attack line.mcz -o bn.tsv
cut -f 2-5 bn.tsv | cmp -s - <(cut -f 2-5 clean.tsv) && die '--bn-attack changes nothing'
$e --attack pgd:eps=0,steps=1 --bn-attack line.mcz | same - nothing.tsv
$e --json --attack $attack line.mcz | python3 -c '
import json, sys
o = json.load(sys.stdin)
assert o["attack"].startswith("pgd:eps=0.0156862745,step=0.00784313725,steps=2,"), o["attack"]
assert o["bn_attack"] is False
rows = [[float(x) for x in l.split("\t")] for l in list(open("robust.tsv"))[1:]]
for p, row in zip(o["points"], rows):
    got = [p[d][q] for d in ("train", "held", "train.robust", "held.robust") for q in ("loss", "accuracy")]
    assert all(abs(a - b) < 1e-4 for a, b in zip(row[1:], got)), (row, got)
    assert p["held.robust"]["images"] == 150 and p["held.robust"]["loss_se"] > 0
assert set(o["summary"]) == {"train", "held", "train.robust", "held.robust"}
'
# restarts and a target: the worst of three is worse, going to a label's loss is not going up one's own
one() { mc-eval -q --data test.mcz --batch 64 -t 1 --attack "$1" n1.mcz | column /dev/stdin test.robust.loss; }
awk -v a="$(one pgd:eps=4/255,steps=1)" -v b="$(one pgd:eps=4/255,steps=1,restarts=3)" 'BEGIN { exit !(b > a) }' ||
    die 'restarts are no worse'
[ "$(one pgd:eps=4/255,steps=1,target=0)" != "$(one pgd:eps=4/255,steps=1,target=+1)" ]
# a picture of the robust columns
mc-plot path --data held.robust robust.tsv -o robust.svg
grep -q 'held.robust' robust.svg

# one step from the image itself, for a network of two linear layers
mc-train -q --net mlp:16 --no-normalise --data d.mcz --epochs 1 --lr 0.02 -t 1 -o m.mcz
mc-eval --data test.mcz --attack pgd:eps=2/255,step=1/255,steps=1,start=clean m.mcz -o fgsm.tsv
/usr/bin/python3 - "$MC_ROOT" <<'END'
import sys
import numpy as np
sys.path.insert(0, sys.argv[1] + "/formats/python")
import mcz
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

fails 2 'there are: pgd' $e --attack fgsm line.mcz
fails 2 "'eps'" $e --attack pgd:eps line.mcz
fails 2 'target 10 is no class' $e --attack pgd:target=10 line.mcz
fails 2 '--bn-attack has no effect without --attack' $e --bn-attack line.mcz
fails 2 '--bn-attack has no effect without --bn-data' mc-eval --data test.mcz --attack pgd --bn-attack n1.mcz
no_temporaries
