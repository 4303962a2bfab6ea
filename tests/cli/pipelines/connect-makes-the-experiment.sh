# SPDX-License-Identifier: Apache-2.0
# connect.mk makes the whole experiment with tables and pictures; a second run does nothing.
fixture connected

expect_equal "$(sed 1d out/1-2/table.tsv | cut -f 1 | paste -sd ' ')" 'line-unaligned curve-unaligned line-aligned curve-aligned'
for f in out/1-2/{path,signature,training}.{svg,png}; do [ -s $f ] || die "no $f"; done
awk -F '\t' 'NF != 9 { exit 1 }' out/1-2/table.tsv || die "$(cat out/1-2/table.tsv)"
for f in path signature training; do same out/$f.svg out/1-2/$f.svg; done
# the curves come first in both pictures, and so have the same colours
for f in path training; do expect_equal "$(svg_texts out/$f.svg | grep -m 2 '^curve, ' | paste -sd ' ')" 'curve, unaligned curve, aligned'; done
for again in '' -n; do
    graph connect $again
    expect_equal "$(count_programs)" ''
done
