# SPDX-License-Identifier: Apache-2.0
# compare.py tables prints per row the value that differs most relative to its tolerance; it exits with 1 if one exceeds it or if a
# row, a value or a column is missing.
again() { "$MC_ROOT/pipelines/paper/compare.py" tables "$@"; }
rows() { tr ' ' '\t'; }
rows >table.tsv <<'END'
network data path pairs minimum minimum_sd at_t barrier_test_loss barrier_test_loss_sd
mlp synth line-aligned 2 30 1 .5 .25 .01
mlp synth curve-aligned 2 50 2 .5 .125 .02
END
# within EXPRESSION: after this sed edit of the table all values are within their tolerances; outside: not all
within() { sed "$1" table.tsv >other.tsv && again table.tsv other.tsv >output || die "$1: $(cat output)"; }
outside() { sed "$1" table.tsv >other.tsv && ! again table.tsv other.tsv >output || die "$1: $(cat output)"; }
within ''
diff output - <<'END'
row	figures	differs most	published	again	tolerance
line-aligned	5	pairs	2	2	0.1
curve-aligned	5	pairs	2	2	0.1
END
# accuracies by .1, losses by .005; the place of a minimum and a network's name do not count
within '2s/30/30.1/; 3s/50/50.05/; 3s/125/13/; s/\t\.5\t/\t.75\t/; s/^mlp/mlp:8/'
grep -qxF "curve-aligned	5	barrier_test_loss	.125	.13	0.005" output || die "$(cat output)"
outside '3s/50/50.2/'
grep -qxF "curve-aligned	5	minimum	50	50.2	0.1" output || die "$(cat output)"
outside '3s/125/131/'
outside 's/\.02$//'
outside 's/\.02$/nan/'
outside 3d
grep -qx 'curve-aligned	not measured again' output || die "$(cat output)"
within '3{p;s/curve-aligned/curve-pam-aligned/}'
grep -qx 'curve-pam-aligned	not published' output || die "$(cat output)"
outside '1s/minimum/least/'
grep -q '^other columns: network	data	path' output || die "$(cat output)"
head -n 1 table.tsv >head.tsv
! again head.tsv head.tsv >output && grep -qx 'no rows' output || die "$(cat output)"
# other tolerances: units, points at which a curve is better, correlations; a loss by its row
tolerance() { # ROWS TOLERANCE OTHER
    printf "$1" "$3" >other.tsv
    printf "$1" "$4" >table.tsv
    again table.tsv other.tsv >output || die "$(cat output)"
    expect_equal "$(tail -n 1 output | cut -f 6)" "$2"
}
tolerance 'images\tdiffer\n2500\t%s\n' 2 10 12
tolerance 'network\tdata\tabove\nmlp\tsynth\t%s\n' 5 90 95
tolerance 'pair\tlayer\tpermuted\n1-2\ta\t%s\n' 0.005 .5 .505
tolerance 'pair\tquantity\tfigure\taligned\n1-2\tloss\tmax\t%s\n' 0.005 .5 .505
tolerance 'pair\tquantity\tfigure\taligned\n1-2\taccuracy\tmean\t%s\n' 0.1 50 50.1
fails 1 "cannot use 'none.tsv'" again none.tsv table.tsv
# each row counts: t identifies the points of a curve
printf 't\tloss\n0\t1\n.5\t2\n1\t3\n' >table.tsv
outside '3s/2$/2.1/'
printf 'path\tloss\na\t1\na\t2\n' >table.tsv
fails 3 'table.tsv: several rows have the same path' again table.tsv table.tsv
