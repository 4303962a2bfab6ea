# SPDX-License-Identifier: Apache-2.0
# mc-train --resume refuses a checkpoint of other settings, data, threads or kernels; without --resume it must not exist.
fixture resumed
cp half.ck ck
train() { mc-train -q --net $net --data d.mcz --epochs 4 --seed 5 -t 2 --checkpoint ck "$@"; }

fails 2 "checkpoint 'ck' exists*--resume" train
fails 3 'seed' train --resume --seed 6
fails 3 'epochs' train --resume --epochs 7
fails 3 'lr 0.1*run*0.01' train --resume --lr 0.01
fails 3 'schedule step*run*linear' train --resume --schedule linear
fails 3 'augment*run*off' train --resume --no-augment
# choices are stored by number
mc-info --json ck | grep -qF '"schedule":"0"' || die "$(mc-info --json ck)"
fails 3 'made without step-factor 0.9996*run' train --resume --schedule step:20:.9996
if [ "$MC_UNDER" != valgrind ]; then # the machine has only one thread, and its kernels are the portable ones already
    fails 3 'ck:*2 threads*run*1' train --resume -t 1
    ONEDNN_MAX_CPU_ISA=SSE41 MC_ISA=portable fails 3 '*run*portable' train --resume
fi
mc-data synth --samples 1024 --size 16 --seed 4 -o other.mcz
fails 3 'data' train --resume --data other.mcz
fails 3 'ends after 1' train --resume --stop-after 1
same half.ck ck
fails 1 'nowhere' train --checkpoint nowhere/ck
head -c 20000 ck >cut
fails 3 'cut: ' train --checkpoint cut --resume
py <<'END'
ck = mcz.read("ck")
for name in ck.tensors:
    t = {k: v.copy() for k, v in ck.tensors.items()}
    t[name][0] = np.nan
    mcz.write("nan-" + name, ck.kind, ck.meta, t)
END
for name in nan-*; do
    fails 3 "$name: \"${name#nan-}\"*not finite" train --checkpoint "$name" --resume
done
fails 2 '--resume*no effect*without --checkpoint' mc-train --net mlp:8 --data d.mcz --resume
