# SPDX-License-Identifier: Apache-2.0
# align.sh recovers a planted permutation, and every stage can be replaced.
fixture pair recoverable
align=$MC_ROOT/pipelines/align.sh
[ -z "$small" ] || export ACTS="mc-acts $small"
# check_alignment PLANTED PERM A B [OPTION...]: checks the permutation on mc-acts' moments with these options
check_alignment() {
    mc-acts --data data.mcz $small "${@:5}" "$3" "$4" | mc-corr -q -o c.mcz
    check_recovery "$1" "$2" c.mcz
}

bash "$align" -d data.mcz -p p.mcz a.mcz q.mcz -o pq.mcz 2>/dev/null
check_alignment planted.mcz p.mcz a.mcz q.mcz
mc-permute p.mcz q.mcz -o x.mcz
same pq.mcz x.mcz
same_content pq.mcz <(bash "$align" -d data.mcz a.mcz q.mcz 2>err)
bash "$align" -d data.mcz -p p.mcz mlp.mcz mlp-q.mcz -o pq.mcz 2>/dev/null
check_alignment mlp-planted.mcz p.mcz mlp.mcz mlp-q.mcz
# each ablation point; before the ReLU no unit is dead
SAMPLES=$((total / 4)) AT=pre THREADS=1 bash "$align" -d data.mcz -p p.mcz a.mcz q.mcz -o back.mcz
check_alignment planted.mcz p.mcz a.mcz q.mcz --samples $((total / 4)) --at pre
same_content back.mcz a.mcz
AT=pre ASSIGN="/usr/bin/python3 $MC_ROOT/formats/python/example_assign.py" \
    bash "$align" -d data.mcz -p p2.mcz a.mcz q.mcz -o back.mcz
same_content back.mcz a.mcz
mc-acts --data data.mcz --at pre a.mcz q.mcz | mc-corr --measure l2 -o pre.mcz
MEASURE=l2 ASSIGN="mc-hungarian --constraint pre.mcz" bash "$align" -d data.mcz -p p.mcz a.mcz q.mcz -o back.mcz
check_alignment planted.mcz p.mcz a.mcz q.mcz
