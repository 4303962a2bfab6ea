# SPDX-License-Identifier: Apache-2.0
# mc-eval --plane: its corners are the networks, a killed run goes on to the same bytes, and three points on
# a line are refused.
. "$MC_ROOT/tests/cli/lib.bash"

mc-data synth --samples 700 --seed 3 -o d.mcz
mc-data synth --split test --samples 333 --seed 3 -o test.mcz
for s in 1 2 3; do
    mc-train -q --net mlp:bn,24 --data d.mcz --epochs 2 --lr 0.02 --seed $s -t 2 -o n$s.mcz
done
mc-bezier -q --epochs 4 --lr .3 -t 2 --data d.mcz n1.mcz n2.mcz -o curve.mcz
mc-bezier -q --epochs 0 n1.mcz n2.mcz -o line.mcz
mc-bezier -q --epochs 0 --control-points 0 n1.mcz n2.mcz -o short.mcz

data="--data d.mcz --data held=test.mcz --bn-data d.mcz -t 2"
# a grid with the first two of the networks on it: what mc-eval says of them with the same statistics
mc-eval --plane --grid 3 --x-range 0:1 --y-range=0:1 $data n1.mcz n2.mcz n3.mcz --marks marks.tsv -o plane.tsv 2>err
grep -q '^mc-eval: 9 points, 9 at a time: [0-9.]* MiB$' err
[ "$(head -n 1 plane.tsv)" = "$(printf 'x\ty\ttrain.loss\ttrain.accuracy\theld.loss\theld.accuracy')" ]
mc-eval $data n1.mcz n2.mcz >nets.tsv
same <(sed -n '2p;4p' plane.tsv | cut -f 3-) <(sed 1d nets.tsv | cut -f 2-)
# a line through two of them is a row of the plane
mc-eval --points 3 $data short.mcz | sed 1d | cut -f 2- | same - <(sed -n '2,4p' plane.tsv | cut -f 3-)
# and the third, whose height is the last row's
/usr/bin/python3 - "$MC_ROOT" <<'END'
import sys
import numpy
sys.path.insert(0, sys.argv[1] + "/formats/python")
import mcz

def flat(name):
    n = mcz.read(name)
    return numpy.concatenate([t.ravel() for k, t in n.tensors.items() if "running" not in k]).astype(float)

a, b, c = (flat("n%d.mcz" % i) for i in (1, 2, 3))
u = b - a
length = numpy.linalg.norm(u)
u /= length
x = (c - a) @ u
y = numpy.linalg.norm(c - a - x * u)
rows = [l.rstrip("\n").split("\t") for l in open("marks.tsv")]
assert rows[0] == ["mark", "name", "x", "y", "off"], rows
want = [(0, 0), (length, 0), (x, y)]
assert [r[:2] for r in rows[1:]] == [["network", "n%d.mcz" % i] for i in (1, 2, 3)]
for r, w in zip(rows[1:], want):
    assert abs(float(r[2]) - w[0]) < 1e-6 * length and abs(float(r[3]) - w[1]) < 1e-6 * length, (r, w)
    assert abs(float(r[4])) < 1e-6 * length
grid = [[float(v) for v in l.split("\t")] for l in list(open("plane.tsv"))[1:]]
for i, g in enumerate(grid):
    assert abs(g[0] - i % 3 * length / 2) < 1e-6 * length and abs(g[1] - i // 3 * y / 2) < 1e-6 * length, g
END
# the third network itself, where a corner is set on it
range=$(awk '$2 == "n2.mcz" { b = $3 } $2 == "n3.mcz" { printf "%.17g:%.17g", $3 / b, $3 / b + 1 }' marks.tsv)
mc-eval -q --plane --grid 2 --x-range="$range" --y-range 0:1 $data n1.mcz n2.mcz n3.mcz | sed -n 4p | cut -f 3- >third
mc-eval $data n3.mcz | sed -n 2p | cut -f 2- | paste third - |
    awk '{ d = ($1 - $5) / $5; e = ($3 - $7) / $7; if (d * d > 1e-8 || e * e > 1e-8) exit 1 }' ||
    die 'the third network is not in its place'

# a curve's plane: its ends and its middle
e="mc-eval -q --plane --grid 5 $data"
$e curve.mcz --points 5 --marks marks.tsv -o plane.tsv
[ "$(column marks.tsv name | paste -sd ' ')" = 't = 0 t = 1 t = 0.5 0 0.25 0.5 0.75 1' ]
awk -F '\t' '$2 == "t = 0.5" { y = $4; x = $3 } $1 == "path" && $2 == .5 { if ($3 != x || $4 != y || y <= 0) exit 1; n++ }
    NR > 1 && $5 != 0 { exit 1 } END { if (n != 1) exit 1 }' marks.tsv || die "the curve is not in its plane: $(cat marks.tsv)"
$e --x-range 0:1 --y-range 0:1 --grid 2 curve.mcz | sed -n 2,3p | cut -f 3- >ends
mc-eval --points 2 $data curve.mcz | sed 1d | cut -f 2- | same - ends
$e --json curve.mcz --points 5 | python3 -c '
import json, sys
o = json.load(sys.stdin)
rows = [[float(x) for x in l.split("\t")] for l in list(open("plane.tsv"))[1:]]
assert o["kind"] == "plane" and len(o["points"]) == len(rows) == 25
for p, row in zip(o["points"], rows):
    got = [p["x"], p["y"], p["train"]["loss"], p["train"]["accuracy"], p["held"]["loss"], p["held"]["accuracy"]]
    assert all(abs(a - b) < 1e-4 for a, b in zip(row, got)), (row, got)
marks = [l.rstrip("\n").split("\t") for l in list(open("marks.tsv"))[1:]]
assert [[m["mark"], m["name"]] for m in o["marks"]] == [m[:2] for m in marks]
assert all(abs(m["x"] - float(r[2])) < 1e-6 for m, r in zip(o["marks"], marks))
'

# blocks change nothing, nor does a kill between them
r="$e --checkpoint ck --checkpoint-every 4 --resume curve.mcz"
$r -o blocks.tsv
same blocks.tsv plane.tsv
cp ck whole.ck
$r >again.tsv
same again.tsv plane.tsv
same ck whole.ck
/usr/bin/python3 - "$MC_ROOT" <<'END'
import sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import mcz
s = mcz.read("ck")
done = 8
tensors = {k: v.copy() for k, v in s.tensors.items()}
for v in tensors.values():
    v[done * len(v) // 25:] = 0
meta = dict(s.meta)
meta["epoch"] = done
mcz.write("half.ck", s.kind, meta, tensors)
for v in tensors.values():   # what a checkpoint says is not measured again
    v[:] = v[:10].tolist() * 25
meta["epoch"] = 25
mcz.write("told.ck", s.kind, meta, tensors)
for v in tensors.values():   # a point begins with its number of images, a float64
    v.view("f8")[5] = -1
mcz.write("wrong.ck", s.kind, meta, tensors)
END
fails 3 'wrong.ck: point 1 was measured on -1 of' $e --checkpoint wrong.ck --resume curve.mcz
cp half.ck ck
$r -v 2>&1 >half.tsv | grep -q 'resumed after point 8 of 25'
same half.tsv plane.tsv
cp told.ck ck
$r | sed 1d | cut -f 3- | sort -u | wc -l | same - <(echo 1)
rm ck
if [ -z "${MC_UNDER:-}" ]; then
    $e --checkpoint ck --checkpoint-every 1 curve.mcz -o killed.tsv &
    for i in $(seq 600); do
        [ ! -e ck ] || break
        sleep .01
    done
    kill -KILL $! 2>/dev/null && wait $! 2>/dev/null || true
    $e --checkpoint ck --checkpoint-every 1 --resume curve.mcz -o resumed.tsv
    same resumed.tsv plane.tsv
    rm -f .*tmp*
fi
# of another run: refused
cp half.ck ck
fails 2 "checkpoint 'ck' exists: --resume goes on from it" $e --checkpoint ck curve.mcz
same half.ck ck
fails 3 'ck: was made with 25 points, this run has 16' $r --grid 4
fails 3 'ck: was made with x-range' $r --x-range 0:1
fails 3 'ck: was made with seed 1, this run has 2' $r --seed 2
fails 3 'ck: was made with curve' mc-eval -q --plane --grid 5 $data --checkpoint ck --resume \
    <(mc-bezier -q --epochs 1 -t 2 --data d.mcz n1.mcz n3.mcz)
fails 3 'was made with images of train 700, this run has 600' $r --samples 600
fails 3 'was made with bn-samples 700, this run has 600' $r --bn-samples 600
head -c 500 ck >cut.ck
fails 3 'cut.ck' $e --checkpoint cut.ck --resume curve.mcz
# a curve's points too
mc-eval -q --points 7 $data curve.mcz >seven.tsv
mc-eval -q --points 7 $data --checkpoint ck7 --checkpoint-every 3 curve.mcz | same - seven.tsv

for three in 'n1.mcz n2.mcz n2.mcz' 'n1.mcz n2.mcz n1.mcz'; do
    fails 3 'lies on the line through' mc-eval --plane $data $three
done
fails 3 'are the same point' mc-eval --plane $data n1.mcz n1.mcz n2.mcz
fails 3 't = 0.5 lies on the line through t = 0 and t = 1' mc-eval --plane $data line.mcz
fails 2 'three networks or one curve' mc-eval --plane $data n1.mcz n2.mcz
fails 2 'three networks or one curve' mc-eval --plane $data n1.mcz
fails 2 'needs --bn-data' mc-eval --plane --data test.mcz n1.mcz n2.mcz n3.mcz
fails 2 'not their planes' mc-eval --plane $data curve.mcz --summary s.tsv
fails 2 '--grid has no effect without --plane' mc-eval $data --grid 5 n1.mcz
fails 2 '--marks has no effect without --plane' mc-eval $data --marks x.tsv n1.mcz
fails 2 'from 2' mc-eval --plane $data --grid 1 curve.mcz
for range in 1 1:0 1: :1 0:0 a:b 0:1:2; do
    fails 2 '--x-range' mc-eval --plane $data --x-range=$range curve.mcz
done
fails 2 '--resume has no effect without --checkpoint' mc-eval --plane $data --resume curve.mcz
fails 2 '--checkpoint is for curves and planes' mc-eval $data --checkpoint x n1.mcz
fails 2 'standard input can be read only once' mc-eval --plane --data - --bn-data d.mcz --checkpoint x curve.mcz <test.mcz
fails 1 'nowhere' mc-eval --plane $data curve.mcz --marks nowhere/x
fails 1 'nowhere' mc-eval --plane $data curve.mcz --checkpoint nowhere/x
mc-train -q --net mlp:8 --data d.mcz --epochs 1 -o other.mcz
fails 3 'n1.mcz and other.mcz: are different networks' mc-eval --plane $data n1.mcz n2.mcz other.mcz
mc-eval -q --plane --grid 2 $data - n2.mcz n3.mcz --marks marks.tsv <n1.mcz >/dev/null
[ "$(column marks.tsv name | head -n 1)" = stdin ]
no_temporaries
