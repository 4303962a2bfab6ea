# SPDX-License-Identifier: Apache-2.0
# mc-eval --attack resumes an interrupted run to the same bytes; a checkpoint of another attack is refused.
fixture attacked
e="mc-eval -q --data d.mcz --data held=test.mcz --bn-data d.mcz --points 3 --batch 64 -t 1"

$e --attack $attack line.mcz -o robust.tsv
r="$e --attack $attack --checkpoint ck --checkpoint-every 2 --resume line.mcz"
$r | same - robust.tsv
cp ck whole.ck
$r -o again.tsv
same again.tsv robust.tsv
same ck whole.ck
py <<'END'
s = mcz.read("ck")
tensors = {k: v.copy() for k, v in s.tensors.items()}
for v in tensors.values():
    v[2 * len(v) // 3:] = 0
mcz.write("half.ck", s.kind, dict(s.meta, epoch=2), tensors)
for v in tensors.values():   # a point's robust figures start with the number of images too
    v.view("f8")[5] = -1
mcz.write("wrong.ck", s.kind, dict(s.meta, epoch=2), tensors)
END
cp half.ck ck
$r | same - robust.tsv
fails 3 'point 0: 384 images expected*-1' $e --attack $attack --checkpoint wrong.ck --resume line.mcz
cp half.ck ck
fails 3 'made*attack pgd:eps=0.0156862745' $r --attack pgd
fails 3 'half.ck' $e --checkpoint half.ck --resume line.mcz
fails 3 'half.ck' $e --attack $attack --bn-attack --checkpoint half.ck --resume line.mcz
