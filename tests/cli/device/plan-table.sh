# SPDX-License-Identifier: Apache-2.0
# A sample of make gpu-plans: cuDNN makes the table's plans for the described device; a line that is not so is told.
[ -e "$MC_BUILD/tests/emulation/plans" ] || echo 'plan-table: no plans are made: nvcc and cuDNN are not here'
emulated

# plans STATUS LAST TABLE
plans() {
    local rc=0
    "$MC_BUILD/tests/emulation/plans" "$3" 0 128 tinyten:32x32 >out || rc=$?
    [ $rc = "$1" ] && tail -n 1 out | grep -qE "^$2\$" || die "status $rc: $(cat out)"
}
table=$MC_ROOT/kernels/cuda/plans.tsv
plans 0 '[1-9][0-9]{2} plans, 0 not as the table says' "$table"
for p in f32 tf32 bf16 f16; do
    for pass in forward data weights add; do
        awk -F'\t' -v p=$p -v pass=$pass '$1 == p && $2 == pass && $3 > 0 && $5 >= $3 { found = 1 } END { exit !found }' out ||
            die "$p $pass: $(cat out)"
    done
done
# damage WHAT AWK: of one line, which is told
line='bf16	fixed	data	16x32x32-16x32x32'
damage() {
    awk -F'\t' -v OFS='\t' "index(\$0, \"$line\") { $2 } { print }" "$table" | sed '/^$/d' >damaged
    ! cmp -s damaged "$table" || die "$1: nothing was damaged"
    plans 1 '[1-9][0-9]* plans, 1 not as the table says' damaged
    grep -q "bf16 fixed data 16x32x32-16x32x32 k3x3 s1x1 p1x1 g1: $1" out || die "$1: $(cat out)"
}
damage CUDNN_STATUS_ '$7 = "9999:2=1"'
damage CUDNN_STATUS_ 'sub(/:.*/, ":2=12345", $7)'
damage 'its notes are not' '$8 = "unproved"'
damage 'its scratch memory is not' '$9 += 16'
damage 'the table has no line' '$0 = ""'
damage 'no plan, proof and work' '$9 = "-"'
