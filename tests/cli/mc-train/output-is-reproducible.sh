# SPDX-License-Identifier: Apache-2.0
# mc-train learns, and writes the same bytes twice, from files and pipes; another seed writes another network.
fixture curves
train() { mc-train --net $net --data d.mcz --epochs 3 --schedule onecycle -t 2 "$@"; }

train --seed 1 --log-json log.json | same n1.mcz -
same_content n1.mcz <(train --seed 1 --data - <d.mcz)
different_content n1.mcz n2.mcz
mc-info --check n1.mcz
expect_equal "$(wc -l <log.json)" 3
field log.json epoch loss | awk 'NR == 1 { first = $1 } { last = $1 } END { exit !(last < first - .1) }' || die "no fall: $(cat log.json)"
# the id does not depend on the history
train --seed 1 --no-history -o bare.mcz
same_content n1.mcz bare.mcz
mc-info --json bare.mcz | grep -q '"history": *\[\]'
no_temporaries
