# SPDX-License-Identifier: Apache-2.0
# mc-align recovers a planted permutation by activations or by weights, with the programs' own results, and the assignment can be
# another command.
fixture pair recoverable
# check_alignment PLANTED A B [OPTION...]: checks the kept permutation on mc-acts' moments with these options
check_alignment() {
    mc-acts --data data.mcz "${@:4}" "$2" "$3" | mc-corr -q -o c.mcz
    check_recovery "$1" k/permutation.mcz c.mcz
}
mc-align -q --data data.mcz --keep k a.mcz q.mcz -o pq.mcz
check_alignment planted.mcz a.mcz q.mcz
mc-permute k/permutation.mcz q.mcz -o x.mcz
same pq.mcz x.mcz
same pq.mcz k/aligned.mcz
mc-acts -q --data data.mcz a.mcz q.mcz | mc-corr -q | mc-hungarian -q | mc-permute - q.mcz -o x.mcz
same_content pq.mcz x.mcz
same_content pq.mcz <(mc-align -q -t 1 --data data.mcz a.mcz q.mcz)
mc-align -q --data data.mcz --keep k mlp.mcz mlp-q.mcz -o pq.mcz
check_alignment mlp-planted.mcz mlp.mcz mlp-q.mcz
# before the ReLU no unit is dead
mc-align -q --data data.mcz --samples $((total / 4)) --at pre --keep k -t 1 a.mcz q.mcz -o back.mcz
check_alignment planted.mcz a.mcz q.mcz --samples $((total / 4)) --at pre
same_content back.mcz a.mcz
mc-align -q --data data.mcz --at=pre --assign "/usr/bin/python3 $MC_ROOT/formats/python/example_assign.py" a.mcz q.mcz -o back.mcz
same_content back.mcz a.mcz
mc-acts -q --data data.mcz --at pre a.mcz q.mcz | mc-corr -q --measure l2 -o pre.mcz
mc-align -q --data data.mcz --measure l2 --assign 'mc-hungarian -q --constraint pre.mcz' --keep k a.mcz q.mcz -o back.mcz
check_alignment planted.mcz a.mcz q.mcz
# by weights
mc-align -q a.mcz q.mcz -o back.mcz
mc-match -q a.mcz q.mcz | mc-permute - q.mcz -o x.mcz
same_content back.mcz x.mcz
