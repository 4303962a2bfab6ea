# SPDX-License-Identifier: Apache-2.0
# mc-eval: tables, JSON and summaries that agree with each other; nothing printed unless it is whole.
. "$MC_ROOT/tests/cli/lib.bash"

mc-data synth --samples 700 --seed 3 -o d.mcz
mc-data synth --split test --samples 333 --seed 3 -o test.mcz
for s in 1 2; do
    mc-train --net mlp:bn,24 --data d.mcz --epochs 2 --lr 0.02 --seed $s -t 2 -o n$s.mcz
done
mc-bezier --epochs 0 n1.mcz n2.mcz -o line.mcz

mc-eval --data test.mcz n1.mcz n2.mcz >nets.tsv
[ "$(head -n 1 nets.tsv)" = "$(printf 'network\ttest.loss\ttest.accuracy')" ]
[ "$(column nets.tsv network | paste -sd ' ')" = 'n1.mcz n2.mcz' ]
mc-eval --data test.mcz <n1.mcz >piped.tsv
[ "$(column piped.tsv network)" = stdin ]
same <(column piped.tsv test.loss) <(column nets.tsv test.loss | sed -n 1p)
mc-eval --data - n1.mcz <test.mcz | tail -n 1 >p
same p <(sed -n 2p nets.tsv)
# the batch size changes only the rounding; one thread, as two
mc-eval --batch 50 --data test.mcz n1.mcz n2.mcz >b50.tsv
paste <(column nets.tsv test.loss) <(column b50.tsv test.loss) |
    awk '{ d = ($1 - $2) / $1; if (d * d > 1e-10) exit 1 }' || die 'the batch size matters'
same <(column nets.tsv test.accuracy) <(column b50.tsv test.accuracy)

e="mc-eval --data d.mcz --data held=test.mcz --bn-data d.mcz --points 3 -t 2"
$e --summary s.tsv line.mcz -o line.tsv
$e line.mcz | same - line.tsv
[ "$(sed -n 1p line.tsv)" = "$(printf 't\ttrain.loss\ttrain.accuracy\theld.loss\theld.accuracy')" ]
[ "$(column line.tsv t | paste -sd ' ')" = '0 0.5 1' ]
$e --json line.mcz | python3 -c '
import json, sys
o = json.load(sys.stdin)
rows = [l.rstrip("\n").split("\t") for l in open("line.tsv")]
for p, row in zip(o["points"], rows[1:]):
    row = [float(x) for x in row]
    got = [p["t"], p["train"]["loss"], p["train"]["accuracy"], p["held"]["loss"], p["held"]["accuracy"]]
    assert all(abs(a - b) < 1e-4 for a, b in zip(row, got)), (row, got)
    assert p["train"]["images"] == 700 and p["held"]["images"] == 333
s = {tuple(l.split("\t")[:2]): [float(x) for x in l.split("\t")[2:]] for l in list(open("s.tsv"))[1:]}
assert sorted(s) == [(d, q) for d in ("held", "train") for q in ("accuracy", "loss")]
for (data, q), v in s.items():
    j = o["summary"][data][q]
    loss = [p[data][q] for p in o["points"]]
    sign = 1 if q == "loss" else -1
    assert abs(v[0] - loss[0]) < 1e-3 and abs(v[1] - loss[2]) < 1e-3
    assert abs(v[2] - sum(loss) / 3) < 1e-3, (v, loss)
    assert abs(v[3] - (loss[0] / 4 + loss[1] / 2 + loss[2] / 4)) < 1e-3   # a straight line: even chords
    assert abs(v[4] - min(loss)) < 1e-3 and abs(v[6] - max(loss)) < 1e-3
    assert abs(v[8] - max(0, sign * (loss[1] - (loss[0] + loss[2]) / 2))) < 1e-3
    assert v[9] == (.5 if v[8] > 0 else 0) and j["barrier_t"] == v[9]
    assert abs(j["barrier"] - v[8]) < 1e-3 and abs(j["arc_mean"] - v[3]) < 1e-3
'
# a subset says how far it may be off
mc-eval --samples 100 --data d.mcz n1.mcz 2>err >/dev/null
grep -q 'first 100 of 700 images; standard errors' err
mc-eval --test-samples 50 --data test.mcz n1.mcz 2>err >/dev/null
grep -q 'test: first 50 of 333 images' err
fails 3 'holds 333 images, 500 are asked for' mc-eval --test-samples 500 --data test.mcz n1.mcz
fails 2 '--test-samples has no effect with --full' mc-eval --test-samples 5 --full --data test.mcz n1.mcz
mc-eval --full --data d.mcz n1.mcz 2>err >/dev/null
[ ! -s err ]
fails 2 '--samples has no effect with --full' mc-eval --samples 100 --full --data d.mcz n1.mcz
fails 2 'for curves' mc-eval --points 5 --data d.mcz n1.mcz
fails 2 'standard input' mc-eval --data - - 
fails 1 'nowhere' mc-eval --data d.mcz n1.mcz -o nowhere/x

fails 2 'needs --data' mc-eval n1.mcz
fails 2 "called 'test'" mc-eval --data test.mcz --data test.mcz n1.mcz
fails 2 'needs --bn-data' mc-eval --data test.mcz line.mcz
fails 2 'one curve' mc-eval --data test.mcz --bn-data d.mcz line.mcz line.mcz
fails 2 'for curves' mc-eval --data test.mcz --summary s n1.mcz
fails 2 'from 2' mc-eval --data test.mcz --points 1 line.mcz
fails 3 'weights' mc-eval --data test.mcz test.mcz
head -c 3000 test.mcz >cut.mcz
fails 3 'cut.mcz' mc-eval --data cut.mcz n1.mcz
fails 3 'cut.mcz' mc-eval --data test.mcz --bn-data cut.mcz line.mcz
mc-data synth --size 16 --samples 10 -o small.mcz
fails 3 '3x16x16' mc-eval --data small.mcz n1.mcz
# what is wrong with a later network is told before the first is measured
head -c 3000 n2.mcz >cut-n2.mcz
mc-train -q --net mlp:8 --data small.mcz --epochs 1 -o small-net.mcz
for later in "1:cannot open 'none.mcz'" '3:cut-n2.mcz' '3:is a dataset stream' '3:small-net.mcz: test.mcz: images are 3x32x32'; do
    case $later in
    1:*) file=none.mcz ;;
    *cut-n2*) file=cut-n2.mcz ;;
    *small-net*) file=small-net.mcz ;;
    *) file=test.mcz ;;
    esac
    MC_CUDA_LIBRARY=none.so fails "${later%%:*}" "${later#*:}" mc-eval --device cuda --data test.mcz n1.mcz $file
done
mc-eval --data test.mcz n1.mcz <(cat n2.mcz) | tail -n 1 | cut -f 2- | same - <(tail -n 1 nets.tsv | cut -f 2-)
echo old >kept.tsv
fails 3 'cut.mcz' mc-eval --data cut.mcz n1.mcz -o kept.tsv
[ "$(cat kept.tsv)" = old ]
# logits that overflow: an error, not a table with nan or JSON that is none
/usr/bin/python3 - "$MC_ROOT" <<'END'
import sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import mcz
n = mcz.read("n2.mcz")
t = {k: v.copy() for k, v in n.tensors.items()}
last = [k for k in t if k.endswith("linear.weight")][-1]
t[last][:] = 3e38
mcz.write("huge.mcz", n.kind, n.meta, t)
END
mc-bezier -q --epochs 0 n1.mcz huge.mcz -o to-huge.mcz
fails 1 'huge.mcz: the loss on test is not finite' mc-eval --data test.mcz n1.mcz huge.mcz
fails 1 'huge.mcz: the loss on test is not finite' mc-eval --json --data test.mcz huge.mcz
fails 1 'the loss on test is not finite at t = ' \
    mc-eval --data test.mcz --bn-data d.mcz --points 3 --summary s.none --json to-huge.mcz
[ ! -e s.none ]
rc=0
mc-eval --data test.mcz n1.mcz >/dev/full 2>err || rc=$?
[ $rc = 1 ] && [ "$(wc -l <err)" = 1 ]
no_temporaries
