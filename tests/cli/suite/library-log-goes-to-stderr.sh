# SPDX-License-Identifier: Apache-2.0
# The log that ONEDNN_VERBOSE asks oneDNN for goes to stderr: streams, tables and JSON on standard output are unchanged by it.
mc-data synth -q --samples 64 --seed 1 -o data.mcz
train() { mc-train -q -t 1 --net tinyten --no-augment --epochs 1 --batch 8 --data data.mcz "$@"; }
train --seed 1 -o n1.mcz
train --seed 2 -o n2.mcz
mc-train -q -t 1 --net mlp:4 --data data.mcz --epochs 0 -o plain.mcz
mc-acts -q -t 1 --at pre --data data.mcz plain.mcz plain.mcz -o m.mcz
mc-acts -q -t 1 --data data.mcz n1.mcz n2.mcz -o post.mcz
mc-corr -q post.mcz -o c.mcz
train --seed 3 -o n3.mcz
on='-q -t 1 --data data.mcz'

# same_loud LOG COMMAND...: expects the same bytes on standard output with ONEDNN_VERBOSE, and a log on stderr if LOG is 1
same_loud() {
    "${@:2}" >quiet
    ONEDNN_VERBOSE=1 "${@:2}" >loud 2>log
    same loud quiet
    ! grep -q '^onednn_verbose' loud || die "${*:2}: the log is on standard output"
    [ "$1" = 0 ] || grep -q '^onednn_verbose' log || die "${*:2}: no log"
}
same_loud 1 train --seed 1 --no-history
same_loud 1 mc-eval $on n1.mcz n2.mcz
same_loud 1 mc-eval $on --json n1.mcz
same_loud 1 mc-eval $on --bn average --line --points 2 --summary summary.tsv n1.mcz n2.mcz
same_loud 1 mc-eval $on --bn-data data.mcz --plane --grid 2 n1.mcz n2.mcz n3.mcz
same_loud 1 mc-permute -q -t 1 --verify data.mcz --random 1 n1.mcz
same_loud 1 mc-pgd $on --steps 1 --eps 4/255 --no-history n1.mcz
same_loud 0 mc-bound plain.mcz plain.mcz m.mcz
same_loud 0 mc-corr --signature post.mcz
same_loud 0 mc-info c.mcz
same_loud 0 mc-info --json n1.mcz
ONEDNN_VERBOSE=1 mc-eval $on n1.mcz -o table.tsv 2>log | cmp - /dev/null
