# SPDX-License-Identifier: Apache-2.0
# mc-acts counts moments of two networks, or writes one's activations, and refuses what does not fit.
. "$MC_ROOT/tests/cli/lib.bash"
. "$MC_ROOT/tests/cli/pair.bash"

fifth=$((total / 5))
acts() { mc-acts --data data.mcz $small "$@"; }

# by default the first fifth, all of the file's bytes at -o as on a pipe, and the same twice
acts a.mcz b.mcz -o m.mcz
mc-info --json m.mcz | grep -q "\"images\": *$fifth,"
acts a.mcz b.mcz | cat >x.mcz && same m.mcz x.mcz
acts --samples $fifth --shard 1/1 a.mcz b.mcz >x.mcz && same m.mcz x.mcz
cat a.mcz | acts - b.mcz >x.mcz && same m.mcz x.mcz
mc-acts --data - $small a.mcz b.mcz <data.mcz >x.mcz && same m.mcz x.mcz
# no sum is split among threads: the same content; the history has their number
for t in 1 2; do
    acts -t $t --samples $images a.mcz b.mcz >x$t.mcz
    acts -t $t --samples $((images / 3)) --raw a.mcz >raw$t.mcz
done
[ "$(id x1.mcz)" = "$(id x2.mcz)" ]
[ "$(id raw1.mcz)" = "$(id raw2.mcz)" ]
# what decides the result is in the history, and only that
acts --no-history a.mcz b.mcz -o x.mcz
[ "$(id x.mcz)" = "$(id m.mcz)" ]
! cmp -s x.mcz m.mcz

# before the ReLU it is something else, also where only the activations are asked for
acts --at pre a.mcz b.mcz -o pre.mcz
[ "$(id pre.mcz)" != "$(id m.mcz)" ]
acts --raw a.mcz -o post.acts
acts --raw --at pre a.mcz -o pre.acts
/usr/bin/python3 - "$MC_ROOT" $fifth <<'END'
import sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import mcz
import numpy as np
post, pre, m = (mcz.read(f) for f in ("post.acts", "pre.acts", "m.mcz"))
assert post.meta["images"] == int(sys.argv[2]) and len(post.tensors) == 8
for i, (x, y) in enumerate(zip(post.tensors.values(), pre.tensors.values())):
    assert (x == np.maximum(y, 0)).all() and (y < 0).any()
    tap = m.meta["taps"][i]
    x = x.astype(np.float64).transpose(1, 0, 2, 3).reshape(tap["count"], -1)
    assert x.shape[1] == tap["samples"]
    for what, want in ("sum_a", x.sum(1)), ("sumsq_a", (x * x).sum(1)):
        got = m.tensors["%d/%s/%s" % (i, tap["name"], what)]
        assert np.allclose(got, want, rtol=1e-12, atol=0), (tap["name"], what)
END

# what does not fit: another architecture, other images, too few of them
mc-train -q -t 1 --net mlp:8 --data data.mcz --samples 16 --epochs 1 -o mlp.mcz
mc-data synth --samples 20 --size 8 -o small.mcz
fails 3 "a.mcz and mlp.mcz: are different networks" acts a.mcz mlp.mcz
fails 3 "small.mcz: images are 3x8x8" mc-acts --data small.mcz a.mcz b.mcz
fails 3 "data.mcz: holds $total images, $((total + 1)) are asked for" acts --samples $((total + 1)) a.mcz b.mcz
fails 3 "is a dataset stream, not weights" acts a.mcz data.mcz
fails 3 "is a weights stream, not" mc-acts --data a.mcz a.mcz b.mcz

# truncated, also after the last image that is needed; an old output stays as it was
cp m.mcz old.mcz
for f in a data; do
    head -c $(($(stat -c %s $f.mcz) - 7)) $f.mcz >cut.mcz
    if [ $f = a ]; then
        fails 3 "cut.mcz: " acts cut.mcz b.mcz -o old.mcz
    else
        fails 3 "cut.mcz: " mc-acts --data cut.mcz --samples 3 a.mcz b.mcz -o old.mcz
        fails 3 "cut.mcz: " mc-acts --data cut.mcz --samples 3 --raw a.mcz -o old.mcz
    fi
done
same m.mcz old.mcz
no_temporaries
fails 3 "stdin: is empty" acts - b.mcz
# a stage that failed before it: no complete stream arrives
mc-acts --data cut.mcz --raw a.mcz 2>/dev/null | mc-info --check >/dev/null 2>&1 && die "laundered"
fails 1 "cannot open 'nothing.mcz'" acts nothing.mcz b.mcz
rc=0
acts a.mcz b.mcz >/dev/full 2>err || rc=$?
[ $rc = 1 ] && [ "$(wc -l <err)" = 1 ]
rc=0
acts --raw a.mcz >/dev/full 2>err || rc=$?
[ $rc = 1 ] && [ "$(wc -l <err)" = 1 ]

# what cannot be asked for
fails 2 "--data is needed" mc-acts a.mcz b.mcz
fails 2 "two networks are needed, 1 are given" acts a.mcz
fails 2 "--raw takes one network, 2 are given" acts --raw a.mcz b.mcz
fails 2 "--raw has no shards" acts --raw --shard 1/2 a.mcz
fails 2 "there is no 'middle' (there are: post, pre)" acts --at middle a.mcz b.mcz
fails 2 "only one input can be standard input" acts - -
for shard in 0/2 3/2 1 1/ /2 1/x 1/2/3 -1/2; do
    fails 2 "--shard: " acts --shard=$shard a.mcz b.mcz
done
fails 2 "--samples" acts --samples 0 a.mcz b.mcz
rc=0
acts --nonsense a.mcz b.mcz >out 2>err || rc=$?
[ $rc = 2 ] && grep -qF "'--nonsense'" err && [ ! -s out ]
