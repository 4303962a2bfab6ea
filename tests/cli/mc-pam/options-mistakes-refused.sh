# SPDX-License-Identifier: Apache-2.0
# mc-pam refuses wrong options and inputs that do not fit.
fixture pam
mc-bezier -q --epochs 0 n1.mcz n2.mcz -o bezier.mcz
mc-train -q -t 1 --net mlp:bn,9 --data d.mcz --epochs 1 -o other.mcz
mc-permute --identity other.mcz -o other-p.mcz
run() { pam --permutation-epochs 1 --epochs 1 "$@"; }
fails 3 'other-p.mcz: the permutation is for another network' run --perm other-p.mcz n1.mcz n2.mcz
fails 3 'bezier.mcz: the curve has no permutation' run --perm bezier.mcz n1.mcz n2.mcz
fails 3 'bezier.mcz: the curve has no permutation' mc-permute bezier.mcz n2.mcz
fails 3 'got weights' run --perm n1.mcz n1.mcz n2.mcz
fails 3 'got weights' run --init n1.mcz n1.mcz n2.mcz
fails 3 'is not a curve from n2.mcz' run --init curve.mcz n2.mcz n1.mcz
fails 3 'different networks' run n1.mcz other.mcz
fails 2 '--perm and --init cannot be combined' run --perm p.mcz --init curve.mcz n1.mcz n2.mcz
fails 2 '--spectral requires --huber DELTA' run --spectral 3 n1.mcz n2.mcz
fails 2 '--draws has no effect with --stage curve' pam --stage curve --draws 3 n1.mcz n2.mcz
fails 2 '--nu-curve has no effect with --stage permutation' pam --stage permutation --nu-curve 3 n1.mcz n2.mcz
fails 2 '--epochs has no effect with --stage permutation' pam --stage permutation --epochs 3 n1.mcz n2.mcz
fails 2 'no epochs to train: ' pam --permutation-epochs 0 --epochs 0 n1.mcz n2.mcz
fails 2 'no epochs to train: ' pam --stage permutation --permutation-epochs 0 n1.mcz n2.mcz
fails 2 'no epochs to train: ' pam --stage curve --epochs 0 n1.mcz n2.mcz
fails 2 '--draws has no effect without a permutation step' pam --permutation-epochs 0 --epochs 1 --draws 3 n1.mcz n2.mcz
fails 2 '--nu-curve has no effect without a curve step' pam --permutation-epochs 1 --epochs 0 --nu-curve 3 n1.mcz n2.mcz
fails 2 '--momentum has no effect without a curve step' pam --permutation-epochs 1 --epochs 0 --momentum .5 n1.mcz n2.mcz
fails 2 '--no-nesterov has no effect with --stage permutation' pam --stage permutation --no-nesterov n1.mcz n2.mcz
fails 2 '--momentum must be less than 1 for a curve step (got 1)' run --momentum 1 n1.mcz n2.mcz
fails 2 '--prune-below has no effect with --draws 0' run --draws 0 --prune-below .1 n1.mcz n2.mcz
fails 2 '--terms has no effect with --draws 0' run --draws 0 --terms 3 n1.mcz n2.mcz
fails 2 "'4097'" run --draws 4097 n1.mcz n2.mcz
fails 2 'total number of epochs must be at most 1000000 (got 1010000)' pam --outer 10000 --permutation-epochs 1 --epochs 100 n1.mcz n2.mcz
fails 2 'permutation' run --stage neither n1.mcz n2.mcz
fails 2 "'0'" run --outer 0 n1.mcz n2.mcz
fails 2 "'-1'" run --nu-curve -1 n1.mcz n2.mcz
fails 2 'missing: operand B.mcz' run n1.mcz
fails 2 'missing: --data FILE.mcz' mc-pam n1.mcz n2.mcz
fails 2 'batch' run --spectral 3 --huber .1 n1.mcz n2.mcz
fails 2 'must be at most 0.001' run --spectral .001 --huber .1 plain.mcz plain.mcz
fails 1 "not finite" pam --stage curve --epochs 3 --lr 1e6 --weight-decay 1 plain.mcz plain.mcz
fails 1 'nowhere' run --checkpoint nowhere/ck n1.mcz n2.mcz
fails 3 '--select-images must be at most 400, the number of training images (got 401)' run --select-images 401 n1.mcz n2.mcz
fails 3 '--select-images must be at most 100, the number of training images (got 128)' run --samples 100 n1.mcz n2.mcz
