# SPDX-License-Identifier: Apache-2.0
# mc-corr makes the same matrices of any shards and of raw streams, tells dead units, prints the
# signature, and refuses what does not belong together.
. "$MC_ROOT/tests/cli/lib.bash"
. "$MC_ROOT/tests/cli/pair.bash"

acts() { mc-acts -t 1 --data data.mcz --samples $images --batch $batch "$@"; }

# agree BOUND FILE FILE: no entry differs by more
agree() {
    /usr/bin/python3 - "$MC_ROOT" "$@" <<'END'
import sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import mcz
import numpy as np
bound, x, y = float(sys.argv[2]), mcz.read(sys.argv[3]), mcz.read(sys.argv[4])
assert x.meta == y.meta and len(x.tensors) == 8
worst = max(np.abs(x.tensors[k] - y.tensors[k]).max() for k in x.tensors)
assert worst <= bound, worst
END
}

acts a.mcz b.mcz -o m.mcz
mc-corr m.mcz -o c.mcz
mc-corr <m.mcz >x.mcz && same c.mcz x.mcz
cat m.mcz | mc-corr -t 2 --measure correlation - >x.mcz && same c.mcz x.mcz

# shards, in any order (seven only where a run does not take seconds)
counts="2 7"
[ "${MC_UNDER:-}" != valgrind ] || counts="2 3"
for n in $counts; do
    shards=()
    for i in $(seq $n); do
        acts --shard $i/$n a.mcz b.mcz -o s$i-$n.mcz
        shards=(s$i-$n.mcz "${shards[@]}")
    done
    mc-corr "${shards[@]}" -o x.mcz
    agree 1e-10 c.mcz x.mcz
done
fails 3 "$((n - 2)) of the $n shards" mc-corr s1-$n.mcz s3-$n.mcz
fails 3 "s2-$n.mcz: shard 2 of $n comes twice" mc-corr s2-$n.mcz s3-$n.mcz s2-$n.mcz
fails 3 "s2-2.mcz: " mc-corr s1-$n.mcz s2-2.mcz
fails 3 "m.mcz: " mc-corr m.mcz m.mcz
fails 1 "cannot write 'none/c.mcz'" mc-corr nosuch.mcz -o none/c.mcz # before anything is read
acts --shard 2/2 a.mcz a.mcz -o other.mcz
fails 3 "other.mcz: moments of different" mc-corr s1-2.mcz other.mcz
mc-acts -t 1 --data data.mcz --samples $images --batch $batch --at pre --shard 2/2 a.mcz b.mcz -o other.mcz
fails 3 "other.mcz: " mc-corr s1-2.mcz other.mcz

# nor what was computed otherwise; float32, which every stream was, is not named
/usr/bin/python3 - "$MC_ROOT" <<'END'
import sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import mcz
m = mcz.read("s2-2.mcz")
assert "precision" not in m.meta
for name in "bf16", "f32", "f64":
    mcz.write(name + ".mcz", m.kind, {**m.meta, "precision": name}, m.tensors)
END
fails 3 "bf16.mcz: moments of different precisions (f32 and bf16)" mc-corr s1-2.mcz bf16.mcz
fails 3 "s1-2.mcz: moments of different precisions (bf16 and f32)" mc-corr bf16.mcz s1-2.mcz
for p in f32 f64; do
    fails 3 "$p.mcz: \"precision\" is \"$p\", not tf32, bf16 or f16" mc-corr s1-2.mcz $p.mcz
done

# raw streams, through FIFOs, told apart by what they are; and as files
acts --raw a.mcz -o a.acts
acts --raw b.mcz -o b.acts
mkfifo fa fb
cat a.acts >fa &
cat b.acts >fb &
mc-corr fa fb -o raw.mcz
wait
agree 1e-6 c.mcz raw.mcz
for t in 1 2; do
    mc-corr --raw -t $t a.acts b.acts -o x.mcz
    [ "$(id x.mcz)" = "$(id raw.mcz)" ] || die "other matrices on $t threads"
done
fails 3 "those of one other" mc-corr a.acts
fails 3 "moments stream, not activations" mc-corr a.acts m.mcz
fails 3 "moments stream, not activations" mc-corr --raw m.mcz m.mcz
fails 3 "activations stream, not moments" mc-corr m.mcz a.acts
mc-acts -t 1 --data data.mcz --samples $((images - 1)) --batch $batch --raw b.mcz -o x.acts
fails 3 "a.acts is of $images images, x.acts of $((images - 1))" mc-corr a.acts x.acts
mc-acts -t 1 --data data.mcz --samples $images --batch $((2 * batch)) --raw b.mcz -o x.acts
fails 3 "not cut into the same batches" mc-corr a.acts x.acts
mc-data synth --seed 2 --samples $total --size 16 -o data2.mcz
mc-acts -t 1 --data data2.mcz --samples $images --batch $batch --raw b.mcz -o x.acts
fails 3 "different data" mc-corr a.acts x.acts
head -c $(($(stat -c %s b.acts) - 1)) b.acts >x.acts
fails 3 "x.acts: " mc-corr a.acts x.acts
fails 3 "x.acts: " mc-corr x.acts a.acts

# a planted permutation, with a dead unit, which is told; the signature sees both
/usr/bin/python3 - "$MC_ROOT" <<'END'
import sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import mcz
a = mcz.read("a.mcz")
t = {k: v.copy() for k, v in a.tensors.items()}
for unit in 3, 17:
    t["layers.3.bn.weight"][unit] = 0
    t["layers.3.bn.bias"][unit] = -1
mcz.write("dead.mcz", a.kind, a.meta, t)
END
mc-permute --random 7 --perm-out planted.mcz dead.mcz -o q.mcz
acts dead.mcz q.mcz -o dq.mcz
mc-corr dq.mcz -o x.mcz 2>err
grep -q '^mc-corr: layers.3.conv: of 32 units, .*3.*17.* of a and .* of b hardly vary: they correlate 0$' err
[ -z "$(mc-corr -q dq.mcz 2>&1 >y.mcz)" ] && same x.mcz y.mcz
mc-hungarian -q x.mcz -o p.mcz 2>/dev/null
/usr/bin/python3 "$MC_ROOT/tests/cli/recovered.py" planted.mcz p.mcz x.mcz layers.3.conv 3 17
mc-corr --signature --perm p.mcz dq.mcz >sig.tsv
head -n 1 sig.tsv |
    grep -qx 'layer	units	dead_a	dead_b	identity	permuted	identity_live	permuted_live'
# each layer: what is dead in one is in the other, live units correlate 1, dead ones 0
awk -F '\t' 'NR > 1 {
        if ($3 != $4 || !near($6, ($2 - $3) / $2) || !near($8, 1) || !($5 < .8) || !($7 < .8)) exit bad = 1
        dead[$1] = $3 }
    function near(x, y) { return x - y < 1e-6 && y - x < 1e-6 }
    END { exit bad || NR != 9 || dead["layers.3.relu"] < 2 }' sig.tsv
mc-corr --signature dq.mcz | head -n 1 |
    grep -qx 'layer	units	dead_a	dead_b	identity	identity_live'
mc-corr --signature --perm p.mcz dq.mcz -o x.tsv && same sig.tsv x.tsv
cat p.mcz | mc-corr --signature --perm - dq.mcz >x.tsv && same sig.tsv x.tsv
fails 3 "is a weights stream, not" mc-corr --signature --perm a.mcz dq.mcz
mc-train -q -t 1 --net mlp:8 --data data.mcz --samples 16 --epochs 1 -o mlp.mcz
mc-permute --random 1 --perm-out mlp-p.mcz mlp.mcz -o x.mcz
fails 3 "the permutation has" mc-corr --signature --perm mlp-p.mcz dq.mcz

# a group that claims more units than its taps see is told by name before room is made for it; so are
# sums that no numbers have
/usr/bin/python3 - "$MC_ROOT" <<'END'
import sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import mcz
for name in "m.mcz", "a.acts":
    s = mcz.read(name)
    s.meta["groups"][0]["size"] = 1 << 24
    mcz.write("wide-" + name, s.kind, s.meta, s.tensors)
s = mcz.read("m.mcz")
t = {k: v.copy() for k, v in s.tensors.items()}
t[next(k for k in t if k.endswith("/sum_a"))][0] = 1e300
mcz.write("absurd.mcz", s.kind, s.meta, t)
END
fails 3 "wide-m.mcz: " mc-corr wide-m.mcz
fails 3 "is seen at no tap" mc-corr wide-m.mcz
fails 3 "wide-a.acts: " mc-corr wide-a.acts wide-a.acts
fails 3 "absurd.mcz: tap " mc-corr absurd.mcz
fails 3 "no numbers have these sums" mc-corr --signature absurd.mcz

# dead units of many groups are summed up, but with -v
mc-train -q -t 1 --net mlp:4,4,4,4,4,4,4,4,4 --data data.mcz --epochs 0 -o deep.mcz
/usr/bin/python3 - "$MC_ROOT" <<'END'
import sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import mcz
s = mcz.read("deep.mcz")
t = {k: v.copy() for k, v in s.tensors.items()}
for k in list(t)[:-2]:  # all but the last layer's: unit 1 never fires
    t[k][1] = -1 if t[k].ndim == 1 else 0
mcz.write("deep.mcz", s.kind, s.meta, t)
END
acts deep.mcz deep.mcz -o deep-m.mcz
mc-corr deep-m.mcz -o deep-c.mcz 2>err
grep -qE '^mc-corr: ([0-9]+) units of a and \1 of b, in 9 groups, hardly vary: they correlate 0 \(-v lists them\)$' err
[ "$(wc -l <err) $(mc-corr -v deep-m.mcz 2>&1 >x.mcz | grep -c 'hardly vary')" = '1 9' ]
mc-hungarian deep-c.mcz -o x.mcz 2>err
[ "$(grep -c 'in 9 groups, are dead' err) $(mc-hungarian -v deep-c.mcz 2>&1 >x.mcz | grep -c ' are dead and')" = '1 9' ]

# by distance: shards and raw streams make the same; no unit is dead; the planted permutation is found
mc-corr --measure l2 dq.mcz -o l2.mcz 2>err && [ ! -s err ]
mc-hungarian -q l2.mcz -o p.mcz
mc-corr -q dq.mcz -o x.mcz
/usr/bin/python3 "$MC_ROOT/tests/cli/recovered.py" planted.mcz p.mcz x.mcz layers.3.conv 3 17
mc-corr --measure l2 m.mcz -o l2.mcz
mc-corr --measure l2 s1-2.mcz s2-2.mcz -o x.mcz && agree 1e-10 l2.mcz x.mcz
mc-corr --measure l2 a.acts b.acts -o x.mcz && agree 1e-10 l2.mcz x.mcz
mc-info --json l2.mcz | grep -q '"measure": *"l2"'
fails 3 "absurd.mcz: tap " mc-corr --measure l2 absurd.mcz

# truncated; a stage that failed before; a full disk; an old output stays as it was
head -c $(($(stat -c %s m.mcz) - 1)) m.mcz >cut.mcz
cp c.mcz old.mcz
fails 3 "cut.mcz: " mc-corr cut.mcz -o old.mcz
fails 3 "cut.mcz: " mc-corr --signature cut.mcz
fails 3 "cut.mcz: " mc-corr s1-2.mcz cut.mcz
same c.mcz old.mcz
no_temporaries
fails 3 "stdin: is empty" mc-corr
rc=0
mc-acts --data data.mcz nothing.mcz b.mcz 2>/dev/null | mc-corr 2>err | mc-info --check >/dev/null 2>&1 || rc=$?
[ $rc = 3 ] && [ ! -s err ]
rc=0
mc-corr m.mcz >/dev/full 2>err || rc=$?
[ $rc = 1 ] && [ "$(wc -l <err)" = 1 ]
rc=0
mc-corr --signature m.mcz >/dev/full 2>err || rc=$?
[ $rc = 1 ] && [ "$(wc -l <err)" = 1 ]
fails 1 "cannot open 'nothing.mcz'" mc-corr nothing.mcz

# what cannot be asked for
fails 2 "there is no 'cosine' (there are: correlation, l2)" mc-corr --measure cosine m.mcz
fails 2 "--perm has no effect without --signature" mc-corr --perm p.mcz m.mcz
fails 2 "the signature is of correlations, not of 'l2'" mc-corr --measure l2 --signature m.mcz
fails 2 "--raw takes two" mc-corr --raw a.acts
fails 2 "only one input can be standard input" mc-corr --signature --perm - -
rc=0
mc-corr --nonsense >out 2>err || rc=$?
[ $rc = 2 ] && grep -qF "'--nonsense'" err && [ ! -s out ]
