# SPDX-License-Identifier: Apache-2.0
# mc-match agrees with NumPy and SciPy in every sweep, for a chain and for residual streams, whose groups match.py declares by
# hand.
fixture pair
for s in 1:c 2:d; do
    mc-train -q -t 1 --net resnet:14,8 --data data.mcz --samples 64 --batch 16 --lr .02 --epochs 1 --seed ${s%:*} -o ${s#*:}.mcz
done
for ends in "a b" "c d"; do
    mc-permute --identity ${ends% *}.mcz -o one.mcz
    for from in 1 "1 one.mcz" "77 one.mcz"; do
        init=$([ "$from" = 1 ] || echo "--init ${from#* }")
        # shellcheck disable=SC2086 # two words
        mc-match -q --seed ${from% *} $init --log-json log.json ${ends% *}.mcz ${ends#* }.mcz -o p.mcz
        { field log.json start objective; field log.json sweep objective; } >ours
        /usr/bin/python3 "$MC_ROOT/tests/parity/match.py" ${ends% *}.mcz ${ends#* }.mcz p.mcz $from >numpy
        paste ours numpy | awk '{ d = $1 / $2 - 1; if (d > 1e-6 || d < -1e-6 || NF != 2) { print; exit 1 } }' ||
            die "$(paste ours numpy)"
        echo "$ends, $from: $(wc -l <ours) objectives agree with NumPy's, the last $(tail -n 1 ours)"
    done
done
