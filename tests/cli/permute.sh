# SPDX-License-Identifier: Apache-2.0
# mc-permute applies, inverts, composes, draws and proves permutations, and refuses those of another
# network.
. "$MC_ROOT/tests/cli/lib.bash"
/usr/bin/python3 "$MC_ROOT/tests/cli/stranger.py" 1 stranger.mcz data.mcz
id() { mc-info --check "$1" | grep -o 'id [0-9a-f]\{32\}'; }
same() { cmp_ids = "$1" "$2"; }
differ() { cmp_ids != "$1" "$2"; }
cmp_ids() {
    local a b
    a=$(id "$2") && b=$(id "$3") && [ "$a" "$1" "$b" ] || { echo "$2 $1 $3 does not hold"; exit 1; }
}

# the identity moves nothing (and writes the stranger's graph as ours)
mc-permute --identity stranger.mcz -o one.mcz
mc-permute one.mcz stranger.mcz -o a.mcz
mc-permute one.mcz a.mcz -o again.mcz
same a.mcz again.mcz

# random; the same bytes twice; another seed, another permutation
mc-permute --random 7 a.mcz -o qa.mcz --perm-out q.mcz
mc-permute --random 7 a.mcz --perm-out q2.mcz >qa2.mcz
cmp qa.mcz qa2.mcz && cmp q.mcz q2.mcz
mc-permute --random 8 a.mcz -o ra.mcz --perm-out r.mcz
differ a.mcz qa.mcz
differ qa.mcz ra.mcz

# applied from a file or a pipe; undone
mc-permute q.mcz a.mcz -o x.mcz && same x.mcz qa.mcz
cat q.mcz | mc-permute - a.mcz >x.mcz && same x.mcz qa.mcz
cat a.mcz | mc-permute q.mcz - >x.mcz && same x.mcz qa.mcz
mc-permute --inverse q.mcz qa.mcz -o x.mcz && same x.mcz a.mcz
mc-permute --inverse q.mcz -o qi.mcz && mc-permute qi.mcz qa.mcz -o x.mcz && same x.mcz a.mcz
mc-permute --inverse --random 7 qa.mcz -o x.mcz && same x.mcz a.mcz

# first q, then r
mc-permute --compose q.mcz r.mcz -o qr.mcz
mc-permute r.mcz qa.mcz -o rqa.mcz
mc-permute qr.mcz a.mcz -o x.mcz && same x.mcz rqa.mcz
mc-permute --inverse --compose q.mcz r.mcz | mc-permute - rqa.mcz -o x.mcz && same x.mcz a.mcz
mc-permute --compose q.mcz qi.mcz -o x.mcz && same x.mcz one.mcz

# every group moved somewhere, and each tensor holds the units that its group's permutation says
/usr/bin/python3 - "$MC_ROOT" <<'EOF'
import sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import mcz
import numpy as np
a, qa, q = (mcz.read(f + ".mcz") for f in ("a", "qa", "q"))
p = q.tensors
assert list(p) == ["stem", "a", "side", "hidden"], list(p)
assert all((np.sort(v) == np.arange(len(v))).all() and (v != np.arange(len(v))).any() for v in p.values())
x, y = a.tensors, qa.tensors
assert (y["stem.weight"] == x["stem.weight"][p["stem"]]).all()
assert (y["b.norm.running_var"] == x["b.norm.running_var"][p["stem"]]).all()
assert (y["b.weight"] == x["b.weight"][p["stem"]][:, p["a"]]).all()
both = np.concatenate([p["stem"], 12 + p["side"]])
places = (both[:, None] * 16 + np.arange(16)).ravel()
assert (y["hidden.weight"] == x["hidden.weight"][p["hidden"]][:, places]).all()
assert (y["head.weight"] == x["head.weight"][:, p["hidden"]]).all()
assert (y["head.bias"] == x["head.bias"]).all()
EOF

# the proof: rounding only, and no prediction changes
mc-permute --verify data.mcz q.mcz a.mcz >table
head -n 1 table | grep -qx 'images	changed	largest_difference	largest_logit	loss_difference'
awk 'NR == 2 && $1 == 300 && $2 == 0 && $3 < 1e-5 * $4 && $4 > .1 && $5 < 1e-5 * $4 { ok = 1 } END { exit !ok }' table
mc-permute --verify data.mcz --samples 130 --random 3 a.mcz -o verified.mcz | grep -q '^130	0	'
mc-permute --random 3 a.mcz -o x.mcz && same x.mcz verified.mcz

fails 2 '--device and --precision have no effect without --verify' mc-permute --device cpu --random 3 a.mcz -o x.mcz
# a permutation of another network; an entry twice; streams of the wrong kind
/usr/bin/python3 - "$MC_ROOT" <<'EOF'
import sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import mcz
q = mcz.read("q.mcz")
t = dict(q.tensors)
mcz.write("short.mcz", q.kind, {"groups": q.meta["groups"][:3]}, {k: t[k] for k in list(t)[:3]})
t["side"] = t["side"].copy()
t["side"][2] = t["side"][5]
mcz.write("twice.mcz", q.kind, q.meta, t)
EOF
fails 3 "short.mcz: the permutation is of another network" mc-permute short.mcz a.mcz -o no.mcz
fails 3 "short.mcz" mc-permute --compose q.mcz short.mcz -o no.mcz
fails 3 "twice.mcz" mc-permute twice.mcz a.mcz -o no.mcz
fails 3 "a.mcz" mc-permute a.mcz a.mcz -o no.mcz
fails 3 "q.mcz" mc-permute q.mcz q.mcz -o no.mcz
fails 3 "q.mcz" mc-permute --verify q.mcz q.mcz a.mcz
# truncated inputs, a stage that failed before, a full disk
head -c $(($(stat -c %s q.mcz) - 1)) q.mcz >cut-q.mcz
head -c 20000 a.mcz >cut-a.mcz
head -c 20000 data.mcz >cut-data.mcz
fails 3 "cut-q.mcz" mc-permute cut-q.mcz a.mcz -o no.mcz
fails 3 "cut-a.mcz" mc-permute q.mcz cut-a.mcz -o no.mcz
fails 3 "cut-data.mcz" mc-permute --verify cut-data.mcz q.mcz a.mcz -o no.mcz
! [ -s out ]
# more images than there are
fails 3 "data.mcz: holds 300 images, 301 are asked for" \
    mc-permute --verify data.mcz --samples 301 q.mcz a.mcz -o no.mcz
fails 3 "stdin: is empty" mc-permute - a.mcz -o no.mcz </dev/null
rc=0
mc-permute --inverse nothing.mcz 2>/dev/null | mc-permute - a.mcz 2>err | mc-info --check >/dev/null 2>&1 || rc=$?
[ $rc = 3 ] && [ ! -s err ]
rc=0
mc-permute q.mcz a.mcz >/dev/full 2>err || rc=$?
[ $rc = 1 ] && [ "$(wc -l <err)" = 1 ]
rc=0
mc-permute --verify data.mcz q.mcz a.mcz >/dev/full 2>err || rc=$?
[ $rc = 1 ] && [ "$(wc -l <err)" = 1 ]
fails 1 "nothing.mcz" mc-permute nothing.mcz a.mcz -o no.mcz
# what cannot be asked for
fails 2 "PERM and WEIGHTS" mc-permute a.mcz -o no.mcz
fails 2 "needs WEIGHTS" mc-permute --random 7 q.mcz a.mcz -o no.mcz
fails 2 "--random" mc-permute --random 7x a.mcz -o no.mcz
fails 2 "two permutations" mc-permute --compose q.mcz -o no.mcz
fails 2 "only one of" mc-permute --identity --random 1 a.mcz -o no.mcz
fails 2 "standard input" mc-permute - - -o no.mcz
fails 2 "--samples" mc-permute --samples 5 q.mcz a.mcz -o no.mcz
for p in tf32 bf16 f16; do
    fails 2 "--verify proves in f32: the same network differs by more in $p" \
        mc-permute --precision $p --verify data.mcz q.mcz a.mcz
done
rc=0
mc-permute --nonsense 2>err || rc=$?
[ $rc = 2 ] && grep -qF "'--nonsense'" err
[ ! -e no.mcz ] || die "an output of a failed run"
no_temporaries
