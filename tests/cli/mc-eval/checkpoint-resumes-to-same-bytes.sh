# SPDX-License-Identifier: Apache-2.0
# mc-eval computes the same plane in any blocks and after a kill between them; a checkpoint of another run is refused.
fixture three
data="--data d.mcz --data held=test.mcz --bn-data d.mcz -t 2"
e="mc-eval -q --plane --grid 5 $data"

$e curve.mcz -o plane.tsv
r="$e --checkpoint ck --checkpoint-every 4 --resume curve.mcz"
$r -o blocks.tsv
same blocks.tsv plane.tsv
cp ck whole.ck
$r >again.tsv
same again.tsv plane.tsv
same ck whole.ck
py <<'END'
s = mcz.read("ck")
done = 8
tensors = {k: v.copy() for k, v in s.tensors.items()}
for v in tensors.values():
    v[done * len(v) // 25:] = 0
meta = dict(s.meta)
meta["epoch"] = done
mcz.write("half.ck", s.kind, meta, tensors)
for v in tensors.values():   # points of a checkpoint are not measured again
    v[:] = v[:10].tolist() * 25
meta["epoch"] = 25
mcz.write("constant.ck", s.kind, meta, tensors)
for v in tensors.values():   # a point starts with its number of images, a float64
    v.view("f8")[5] = -1
mcz.write("wrong.ck", s.kind, meta, tensors)
END
fails 3 'wrong.ck: point 1: 700 images expected*-1' $e --checkpoint wrong.ck --resume curve.mcz
cp half.ck ck
$r -v 2>&1 >half.tsv | grep -q 'resumed after point 8 of 25'
same half.tsv plane.tsv
cp constant.ck ck
expect_equal "$($r | sed 1d | cut -f 3- | sort -u | wc -l)" 1
if [ -z "$MC_UNDER" ]; then
    run() { $launcher $e --checkpoint ck --checkpoint-every 1 curve.mcz -o out.tsv; }
    kill_when '[ -e ck ]' run
    $e --checkpoint ck --checkpoint-every 1 --resume curve.mcz | same - plane.tsv
fi
# checkpoints of other runs
cp half.ck ck
fails 2 "checkpoint 'ck' exists*--resume" $e --checkpoint ck curve.mcz
same half.ck ck
fails 3 'ck:*25 points*run*16' $r --grid 4
fails 3 'ck:*made*x-range' $r --x-range 0:1
fails 3 'ck:*seed 1*run*2' $r --seed 2
fails 3 'ck:*made*curve' mc-eval -q --plane --grid 5 $data --checkpoint ck --resume \
    <(mc-bezier -q --epochs 1 -t 2 --data d.mcz n1.mcz n3.mcz)
fails 3 'images*train 700*run*600' $r --samples 600
fails 3 'bn-samples 700*run*600' $r --bn-samples 600
head -c 500 ck >cut.ck
fails 3 'cut.ck' $e --checkpoint cut.ck --resume curve.mcz
# the points of a curve too
mc-eval -q --points 7 $data curve.mcz >seven.tsv
mc-eval -q --points 7 $data --checkpoint ck7 --checkpoint-every 3 curve.mcz | same - seven.tsv
