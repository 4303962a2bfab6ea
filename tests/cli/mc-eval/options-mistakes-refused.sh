# SPDX-License-Identifier: Apache-2.0
# mc-eval refuses wrong options and inputs for networks, curves and planes.
fixture three

fails 2 'missing: --data FILE.mcz' mc-eval n1.mcz
fails 2 "two data sets have the name 'test'" mc-eval --data test.mcz --data test.mcz n1.mcz
fails 2 'a curve with batch norm requires --bn-data FILE.mcz' mc-eval --data test.mcz line.mcz
fails 2 'one curve' mc-eval --data test.mcz --bn-data d.mcz line.mcz line.mcz
fails 2 '--points requires a curve, got weights' mc-eval --points 5 --data d.mcz n1.mcz
fails 2 '--summary requires a curve, got weights' mc-eval --data test.mcz --summary s n1.mcz
fails 2 'from 2' mc-eval --data test.mcz --points 1 line.mcz
fails 2 'standard input' mc-eval --data - -
fails 3 'weights' mc-eval --data test.mcz test.mcz
head -c 3000 test.mcz >cut.mcz
fails 3 'cut.mcz' mc-eval --data test.mcz --bn-data cut.mcz line.mcz
mc-data synth --size 16 --samples 10 -o small.mcz
fails 3 '3x16x16' mc-eval --data small.mcz n1.mcz

plane="mc-eval --plane --data d.mcz --data held=test.mcz --bn-data d.mcz"
for three in 'n1.mcz n2.mcz n2.mcz' 'n1.mcz n2.mcz n1.mcz'; do fails 3 'is on the line through' $plane $three; done
fails 3 'are the same point' $plane n1.mcz n1.mcz n2.mcz
fails 3 't = 0.5 is on the line through t = 0 and t = 1' $plane line.mcz
fails 2 'three networks or one curve' $plane n1.mcz n2.mcz
fails 2 'three networks or one curve' $plane n1.mcz
fails 2 'a plane with batch norm requires --bn-data FILE.mcz' mc-eval --plane --data test.mcz n1.mcz n2.mcz n3.mcz
fails 2 '--summary has no effect with --plane' $plane curve.mcz --summary s.tsv
fails 2 'from 2' $plane --grid 1 curve.mcz
for range in 1 1:0 1: :1 0:0 a:b 0:1:2; do fails 2 '--x-range' $plane --x-range=$range curve.mcz; done
fails 2 '--resume has no effect without --checkpoint' $plane --resume curve.mcz
fails 1 'nowhere' $plane curve.mcz --marks nowhere/x
fails 1 'nowhere' $plane curve.mcz --checkpoint nowhere/x
fails 2 'data cannot be standard input' mc-eval --plane --data - --bn-data d.mcz --checkpoint x curve.mcz <test.mcz
fails 2 'data cannot be standard input' mc-eval --data - n1.mcz n2.mcz <test.mcz
fails 2 'data cannot be standard input' mc-eval --data test.mcz --bn-data - n1.mcz n2.mcz <d.mcz
fails 2 'data cannot be a pipe' mc-eval --data <(cat test.mcz) n1.mcz n2.mcz
mc-train -q --net mlp:8 --data d.mcz --epochs 0 -o other.mcz
fails 3 'n1.mcz and other.mcz: different networks' $plane n1.mcz n2.mcz other.mcz
for option in grid=5 marks=x.tsv checkpoint=x; do fails 2 "--${option%=*} " mc-eval --data d.mcz --$option n1.mcz; done
for option in bn-samples=9 bn-plain; do fails 2 "--${option%=*} has no effect without --bn-data" mc-eval --data d.mcz --$option n1.mcz; done
fails 2 '--seed has no effect without --attack or augmented --bn-data' mc-eval --data test.mcz --seed 2 n1.mcz
fails 2 '--seed has no effect without --attack or augmented --bn-data' mc-eval --data test.mcz --bn-data d.mcz --bn-plain --seed 2 line.mcz
fails 2 'data cannot be standard input' mc-eval --data test.mcz --bn-data - other.mcz other.mcz <d.mcz
fails 2 'data cannot be a pipe' mc-eval --data test.mcz --bn-data <(cat d.mcz) other.mcz other.mcz
# a network without batch norm needs no data for statistics, but named data must exist and fit
mc-bezier --epochs 0 other.mcz other.mcz -o plain.mcz
mc-eval -q --data test.mcz --bn-data d.mcz --points 2 plain.mcz >/dev/null
fails 1 "cannot open 'none.mcz'" mc-eval -q --data test.mcz --bn-data none.mcz --points 2 plain.mcz
fails 3 'small.mcz: images are 3x16x16' mc-eval -q --data test.mcz --bn-data small.mcz --points 2 plain.mcz
fails 3 'n1.mcz: dataset expected, got weights: make one with mc-data' mc-eval -q --data test.mcz --bn-data n1.mcz --points 2 plain.mcz
