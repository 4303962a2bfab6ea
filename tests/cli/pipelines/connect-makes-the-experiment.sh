# SPDX-License-Identifier: Apache-2.0
# connect.mk makes the whole experiment with tables and pictures; a second run does nothing.
fixture connected

expect_equal "$(sed 1d out/1-2/table.tsv | cut -f 1 | paste -sd ' ')" 'line-unaligned curve-unaligned line-aligned curve-aligned'
for f in path signature training; do [ -s out/1-2/$f.svg ] && [ -s out/1-2/$f.png ]; done
awk -F '\t' 'NF != 9 { exit 1 }' out/1-2/table.tsv || die "$(cat out/1-2/table.tsv)"
for f in path signature training; do same out/$f.svg out/1-2/$f.svg; done
colour() { py "out/$1.svg" "$2" <<<'from picture import *; print(Picture(sys.argv[1]).colour(sys.argv[2]))'; }
for curve in unaligned aligned; do expect_equal "$(colour path "curve, $curve")" "$(colour training "curve, $curve")"; done
[ "$(colour path 'curve, aligned')" != "$(colour path 'curve, unaligned')" ] || die 'both curves have one colour'
for again in '' -n; do
    graph connect $again
    expect_equal "$(count_programs)" ''
done
