# SPDX-License-Identifier: Apache-2.0
# mc-train and mc-bezier: bad options, damaged input, a full disk, an upstream that fails.
. "$MC_ROOT/tests/cli/lib.bash"

mc-data synth --samples 256 -o d.mcz
mc-train --net mlp:8 --data d.mcz --epochs 1 -o a.mcz
mc-train --net mlp:8 --data d.mcz --epochs 1 --seed 2 -o b.mcz
mc-train --net mlp:9 --data d.mcz --epochs 1 -o other.mcz
mc-data synth --samples 256 --size 16 -o small.mcz
head -c 20000 d.mcz >cut.mcz
t="mc-train --data d.mcz --epochs 1 -o no.mcz"
z="mc-bezier --data d.mcz --epochs 1 -o no.mcz"
fails 2 'tinyten' $t
fails 2 "tinyten" $t --net resnet1000
fails 2 '1x' $t --net tinyten --lr 1x
fails 2 "'-1'" $t --net tinyten --epochs -1
fails 2 'onecycle' $t --net tinyten --schedule quadratic
fails 2 '--resume has no effect without --checkpoint' $t --net tinyten --resume
fails 2 'operand' $t --net tinyten extra
fails 2 'needs --data' mc-train --net tinyten -o no.mcz
fails 2 'nothing' $t --net tinyten --device nothing
MC_CUDA_LIBRARY=none.so fails 1 'none.so' $t --net tinyten --device cuda
fails 1 'No such file' mc-train --net tinyten --data none.mcz -o no.mcz
fails 1 'No such file' $t --net tinyten -o nowhere/no.mcz
fails 3 'cut.mcz' mc-train --net tinyten --data cut.mcz -o no.mcz
fails 3 'is a weights stream' mc-train --net tinyten --data a.mcz -o no.mcz
fails 3 'holds 256 images' $t --net tinyten --samples 257
fails 3 'small.mcz' mc-train --data small.mcz --init a.mcz --epochs 1 -o no.mcz
fails 1 'not finite' $t --net mlp:8 --lr 1e6 --epochs 3
# only the last step overflows, after every loss: no output, no checkpoint
/usr/bin/python3 - "$MC_ROOT" <<'END'
import sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import mcz
import numpy as np
w = mcz.read("a.mcz")
into, bias, out, _ = [k for k in w.tensors if k.endswith(("weight", "bias"))]
w.tensors[into] = np.zeros_like(w.tensors[into])
w.tensors[bias] = np.full_like(w.tensors[bias], 1e-30)
w.tensors[out] = 1e36 * np.sign(np.random.default_rng(1).standard_normal(w.tensors[out].shape)).astype("f4")
mcz.write("steep.mcz", w.kind, w.meta, w.tensors)
END
steep="mc-train --data d.mcz --batch 256 --epochs 1 --init steep.mcz --weight-decay 0"
$steep --lr 1e-40 -o flat.mcz
fails 1 "not finite after epoch 1 (a smaller --lr may help)" $steep --lr 1e6 --checkpoint no.state -o no.mcz
[ ! -e no.state ] || die 'a checkpoint of a run that is not finite'
fails 1 '' $t --net mlp:8 -o /dev/full
fails 2 'two weights' $z a.mcz
fails 3 'different networks' $z a.mcz other.mcz
mc-train -q --net mlp:8 --no-normalise --data d.mcz --epochs 1 -o raw.mcz
fails 3 'a.mcz and raw.mcz: are different networks (mlp:8, mlp:8): node "normalise" has another "mean"' $z a.mcz raw.mcz
fails 2 'needs --data' mc-bezier a.mcz b.mcz -o no.mcz
fails 1 '' mc-bezier --epochs 0 a.mcz b.mcz -o /dev/full
head -c 900 b.mcz >cutb.mcz
fails 3 'cutb.mcz' $z a.mcz cutb.mcz
[ ! -e no.mcz ] || die 'an output of a failed run'
no_temporaries
# what was there stays
echo old >kept.mcz
fails 3 'cut.mcz' mc-train --net tinyten --data cut.mcz -o kept.mcz
[ "$(cat kept.mcz)" = old ]
# a failing upstream, without pipefail
set +o pipefail
(cat cut.mcz; exit 1) | mc-train --net mlp:8 --data - --epochs 1 >no.mcz 2>err && die 'it passed'
mc-info --check no.mcz 2>/dev/null && die 'a complete stream of a failed run'
[ "$(wc -l <err)" = 1 ]
