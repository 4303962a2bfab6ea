# SPDX-License-Identifier: Apache-2.0
# Programs that train warn, and still write the result, if the finite final loss is far above that of guessing. They do not
# warn about a network that learns, nor about a wide network's first steps, whose loss is several times that of guessing.
mc-data -q synth --samples 256 -o data.mcz
mc-train -q -t 1 --net mlp:8 --data data.mcz --epochs 2 -o good.mcz 2>errors
[ ! -s errors ] || die "$(cat errors)"
mc-train -q -t 1 --net mlp:8 --data data.mcz --epochs 2 --lr 20 -o bad.mcz 2>errors
grep -qE '^mc-train: warning: the last epoch.s loss is [0-9.e+]+ .guessing one of 10 classes: 2.303.: the training may have' errors ||
    die "$(cat errors)"
expect_equal "$(wc -l <errors)" 1
[ -s bad.mcz ] || die 'the network is not written'
mc-bezier -q -t 1 --data data.mcz --epochs 1 --lr 20 good.mcz bad.mcz 2>errors | cat >curve.mcz
grep -q '^mc-bezier: warning: the last epoch.s loss is' errors || die "$(cat errors)"
mc-pam -q -t 1 --data data.mcz --epochs 1 --permutation-epochs 1 --select-images 32 --lr 20 good.mcz bad.mcz 2>errors | cat >curve.mcz
grep -q '^mc-pam: warning: the last epoch.s loss is' errors || die "$(cat errors)"
wide='mc-train -q -t 1 --net mlp:512 --data data.mcz --epochs 1 --log-json log.json'
expect_message '' $wide
field log.json epoch loss | awk '{ exit !($1 > 2 * log(10)) }' || die "the first steps are too easy: $(cat log.json)"
