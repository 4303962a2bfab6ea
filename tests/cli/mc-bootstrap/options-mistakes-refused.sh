# SPDX-License-Identifier: Apache-2.0
# mc-bootstrap refuses wrong operands and paths measured on different images; mc-eval --losses refuses inputs without a
# path, and a checkpoint. It pins the wording of its messages.
losses=$MC_ROOT/formats/samples/good-losses.mcz
mc-data synth --samples 40 --size 8 -o d.mcz
mc-data synth --samples 40 --size 8 --seed 2 -o e.mcz
for s in 1 2; do mc-train -q --net mlp:4 --data d.mcz --epochs 0 --seed $s -o n$s.mcz; done
mc-bezier --epochs 0 n1.mcz n2.mcz -o line.mcz
measure() { mc-eval -q -t 1 --points 3 "$@" line.mcz >table.tsv; }
measure --data d.mcz --losses d.losses
measure --data d.mcz --samples 30 --losses less.losses
measure --data train=e.mcz --losses e.losses
measure --data other=d.mcz --losses other.losses

fails_with 2 'missing: operand FIRST.mcz (see --help)' mc-bootstrap
fails_with 2 "unexpected argument 'd.losses' (expected: FIRST.mcz [SECOND.mcz])" mc-bootstrap d.losses d.losses d.losses
fails_with 2 "--resamples: '99' is not a whole number from 100 to 1000000" mc-bootstrap --resamples 99 d.losses
fails_with 2 "--level: '1' is not a number from 0.5 to 0.9999" mc-bootstrap --level 1 d.losses
fails_with 3 "$MC_ROOT/formats/samples/good-matrices.mcz: losses expected, got matrices" mc-bootstrap "$MC_ROOT/formats/samples/good-matrices.mcz"
fails_with 3 'd.losses and less.losses: "train" was measured on different images' mc-bootstrap d.losses less.losses
fails_with 3 'd.losses and e.losses: "train" was measured on different images' mc-bootstrap d.losses e.losses
fails_with 3 'd.losses and other.losses have no data set in common' mc-bootstrap d.losses other.losses
fails_with 3 "d.losses and $losses have no data set in common" mc-bootstrap d.losses "$losses" -o table.tsv

usage_error '--losses requires*curve*got weights' mc-eval --data d.mcz --losses x n1.mcz
usage_error '--losses*no effect*with --plane' mc-eval --data d.mcz --plane --losses x n1.mcz n2.mcz n1.mcz
usage_error 'checkpoint*not contain' mc-eval --data d.mcz --losses x --checkpoint ck line.mcz
usage_error '--no-history*no effect*without --losses' mc-eval --data d.mcz --no-history line.mcz
usage_error 'same file' mc-eval --data d.mcz --losses line.mcz line.mcz
# different points, and data sets of only one path, are reported
measure --data d.mcz --data other=e.mcz --points 5 --losses more.losses
mc-bootstrap --resamples 100 d.losses more.losses 2>errors >table
expect_equal "$(cat errors)" 'mc-bootstrap: warning: the paths have 3 and 5 points: min, max and barrier compare different points
mc-bootstrap: other is only in the second path'
expect_equal "$(cut -f 1 table | sort -u | paste -sd ,)" data,train
