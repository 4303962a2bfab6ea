# SPDX-License-Identifier: Apache-2.0
# mc-train learns, and gives the same bytes twice, from a file as from a pipe; another seed gives another network.
fixture curves
train() { mc-train --net $net --data d.mcz --epochs 3 --schedule onecycle -t 2 "$@"; }

train --seed 1 --log-json log.json | same n1.mcz -
same_content n1.mcz <(train --seed 1 --data - <d.mcz)
different_content n1.mcz n2.mcz
mc-info --check n1.mcz
expect_equal "$(wc -l <log.json)" 3
field log.json epoch loss | awk 'NR == 1 { first = $1 } { last = $1 } END { exit !(last < first - .1) }' || die "no fall: $(cat log.json)"
# without history the id stays
train --seed 1 --no-history -o bare.mcz
same_content n1.mcz bare.mcz
mc-info --json bare.mcz | grep -q '"history": *\[\]'
no_temporaries
