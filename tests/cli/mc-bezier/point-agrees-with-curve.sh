# SPDX-License-Identifier: Apache-2.0
# mc-bezier --point writes a network with the same loss as the curve at that point.
fixture curves

mc-eval -q --data test.mcz --bn-data d.mcz -t 2 --points 5 curve.mcz -o curve.tsv
mc-bezier --point 1/4 --bn-data d.mcz -t 2 curve.mcz -o quarter.mcz
mc-eval -q --data test.mcz -t 2 quarter.mcz >quarter.tsv
paste <(column quarter.tsv test.loss) <(column curve.tsv test.loss | sed -n 2p) |
    awk '{ d = ($1 - $2) / $2; exit !(d * d < 1e-8) }' || die 'the point differs from the curve'
mc-bezier --point 0 --bn-data d.mcz -t 2 curve.mcz -o first.mcz
