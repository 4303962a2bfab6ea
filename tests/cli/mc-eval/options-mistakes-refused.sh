# SPDX-License-Identifier: Apache-2.0
# mc-eval refuses wrong options and inputs for networks, curves and planes. It pins the wording of its messages.
fixture three

fails_with 2 'missing: --data FILE.mcz (see --help)' mc-eval n1.mcz
fails_with 2 "two data sets have the name 'test' (use --data NAME=FILE)" mc-eval --data test.mcz --data test.mcz n1.mcz
fails_with 2 'a curve with batch norm requires --bn-data FILE.mcz: it has no statistics' mc-eval --data test.mcz line.mcz
fails_with 2 'only one curve can be measured (got 2 operands)' mc-eval --data test.mcz --bn-data d.mcz line.mcz line.mcz
fails_with 2 '--points requires a curve, got weights (--line measures the line between two networks)' mc-eval --points 5 --data d.mcz n1.mcz
fails_with 2 '--summary requires a curve, got weights (--line measures the line between two networks)' mc-eval --data test.mcz --summary s n1.mcz
fails_with 2 "--points: '1' is not a whole number from 2 to 100001" mc-eval --data test.mcz --points 1 line.mcz
fails_with 2 'only one input can be standard input' mc-eval --data - -
fails_with 3 'test.mcz: weights expected, got dataset: train with mc-train first, or check the order of the operands' mc-eval --data test.mcz test.mcz
head -c 3000 test.mcz >cut.mcz
fails 3 'cut.mcz: *truncated' mc-eval --data test.mcz --bn-data cut.mcz line.mcz
mc-data synth --size 16 --samples 10 -o small.mcz
fails_with 3 "small.mcz: images are 3x16x16, but the network expects 3x${side}x$side" mc-eval --data small.mcz n1.mcz

plane="mc-eval --plane --data d.mcz --data held=test.mcz --bn-data d.mcz"
for three in 'n1.mcz n2.mcz n2.mcz' 'n1.mcz n2.mcz n1.mcz'; do fails_with 3 "${three##* } is on the line through n1.mcz and n2.mcz (a plane needs three points not on a line)" $plane $three; done
fails_with 3 'n1.mcz and n1.mcz are the same point (a plane needs three distinct points)' $plane n1.mcz n1.mcz n2.mcz
fails_with 3 't = 0.5 is on the line through t = 0 and t = 1 (a plane needs three points not on a line)' $plane line.mcz
fails_with 2 '--plane requires three networks or one curve (got 2 operands)' $plane n1.mcz n2.mcz
fails_with 2 '--plane requires three networks or one curve (got 1 operands)' $plane n1.mcz
fails_with 2 'a plane with batch norm requires --bn-data FILE.mcz: it has no statistics' mc-eval --plane --data test.mcz n1.mcz n2.mcz n3.mcz
fails_with 2 '--summary has no effect with --plane' $plane curve.mcz --summary s.tsv
fails_with 2 "--grid: '1' is not a whole number from 2 to 1001" $plane --grid 1 curve.mcz
for range in 1 1:0 1: :1 0:0 a:b 0:1:2; do fails 2 '--x-range' $plane --x-range=$range curve.mcz; done
fails_with 2 '--resume has no effect without --checkpoint' $plane --resume curve.mcz
fails_with 1 "cannot write 'nowhere/x': No such file or directory" $plane curve.mcz --marks nowhere/x
fails_with 1 "cannot write 'nowhere/x': No such file or directory" $plane curve.mcz --checkpoint nowhere/x
fails_with 2 'data cannot be standard input, because they are read more than once (use a file)' mc-eval --plane --data - --bn-data d.mcz --checkpoint x curve.mcz <test.mcz
fails_with 2 'data cannot be standard input, because they are read more than once (use a file)' mc-eval --data - n1.mcz n2.mcz <test.mcz
fails_with 2 'data cannot be standard input, because they are read more than once (use a file)' mc-eval --data test.mcz --bn-data - n1.mcz n2.mcz <d.mcz
fails_with 2 'data cannot be a pipe, because they are read more than once (use a file)' mc-eval --data <(cat test.mcz) n1.mcz n2.mcz
mc-train -q --net mlp:8 --data d.mcz --epochs 0 -o other.mcz
fails_with 3 'n1.mcz and other.mcz: different networks (mlp:bn,24, mlp:8): node "layers.0.linear" has a different "out"' $plane n1.mcz n2.mcz other.mcz
for option in grid=5 marks=x.tsv checkpoint=x; do fails 2 "--${option%=*} " mc-eval --data d.mcz --$option n1.mcz; done
for option in bn-samples=9 bn-plain; do fails_with 2 "--${option%=*} has no effect without --bn-data" mc-eval --data d.mcz --$option n1.mcz; done
fails_with 2 '--seed has no effect without --attack or augmented --bn-data' mc-eval --data test.mcz --seed 2 n1.mcz
fails_with 2 '--seed has no effect without --attack or augmented --bn-data' mc-eval --data test.mcz --bn-data d.mcz --bn-plain --seed 2 line.mcz
fails_with 2 'data cannot be standard input, because they are read more than once (use a file)' mc-eval --data test.mcz --bn-data - other.mcz other.mcz <d.mcz
fails_with 2 'data cannot be a pipe, because they are read more than once (use a file)' mc-eval --data test.mcz --bn-data <(cat d.mcz) other.mcz other.mcz
# a network without batch norm needs no data for statistics, but named data must exist and fit
mc-bezier --epochs 0 other.mcz other.mcz -o plain.mcz
mc-eval -q --data test.mcz --bn-data d.mcz --points 2 plain.mcz >/dev/null
fails_with 1 "cannot open 'none.mcz': No such file or directory" mc-eval -q --data test.mcz --bn-data none.mcz --points 2 plain.mcz
fails_with 3 "small.mcz: images are 3x16x16, but the network expects 3x${side}x$side" mc-eval -q --data test.mcz --bn-data small.mcz --points 2 plain.mcz
fails_with 3 'n1.mcz: dataset expected, got weights: make one with mc-data' mc-eval -q --data test.mcz --bn-data n1.mcz --points 2 plain.mcz
