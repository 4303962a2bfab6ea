# SPDX-License-Identifier: Apache-2.0
# mc-pam refuses wrong options and inputs that do not fit. It pins the wording of its messages.
fixture pam
mc-bezier -q --epochs 0 n1.mcz n2.mcz -o bezier.mcz
mc-train -q -t 1 --net mlp:bn,9 --data d.mcz --epochs 1 -o other.mcz
mc-permute --identity other.mcz -o other-p.mcz
run() { pam --permutation-epochs 1 --epochs 1 "$@"; }
fails_with 3 'other-p.mcz: the permutation is for another network: 2 groups expected, got 1' run --perm other-p.mcz n1.mcz n2.mcz
fails_with 3 'bezier.mcz: the curve has no permutation' run --perm bezier.mcz n1.mcz n2.mcz
fails 3 'bezier.mcz: the curve has no permutation' mc-permute bezier.mcz n2.mcz
fails_with 3 'n1.mcz: permutation expected, got weights: run mc-match first, or mc-acts, mc-corr and mc-hungarian' run --perm n1.mcz n1.mcz n2.mcz
fails_with 3 'n1.mcz: curve expected, got weights: run mc-bezier first' run --init n1.mcz n1.mcz n2.mcz
fails_with 3 'curve.mcz: is not a curve from n2.mcz to n1.mcz (permuted)' run --init curve.mcz n2.mcz n1.mcz
fails_with 3 'n1.mcz and other.mcz: different networks (mlp:bn,12,8, mlp:bn,9): node "layers.0.linear" has a different "out"' run n1.mcz other.mcz
fails_with 2 '--perm and --init cannot be combined' run --perm p.mcz --init curve.mcz n1.mcz n2.mcz
fails_with 2 '--spectral requires --huber DELTA' run --spectral 3 n1.mcz n2.mcz
fails_with 2 '--draws has no effect with --stage curve' pam --stage curve --draws 3 n1.mcz n2.mcz
fails_with 2 '--nu-curve has no effect with --stage permutation' pam --stage permutation --nu-curve 3 n1.mcz n2.mcz
fails_with 2 '--epochs has no effect with --stage permutation' pam --stage permutation --epochs 3 n1.mcz n2.mcz
fails_with 2 'no epochs to train: set --permutation-epochs or --epochs' pam --permutation-epochs 0 --epochs 0 n1.mcz n2.mcz
fails_with 2 'no epochs to train: set --permutation-epochs or --epochs' pam --stage permutation --permutation-epochs 0 n1.mcz n2.mcz
fails_with 2 'no epochs to train: set --permutation-epochs or --epochs' pam --stage curve --epochs 0 n1.mcz n2.mcz
fails_with 2 '--draws has no effect without a permutation step (its epochs are 0)' pam --permutation-epochs 0 --epochs 1 --draws 3 n1.mcz n2.mcz
fails_with 2 '--nu-curve has no effect without a curve step (its epochs are 0)' pam --permutation-epochs 1 --epochs 0 --nu-curve 3 n1.mcz n2.mcz
fails_with 2 '--momentum has no effect without a curve step (its epochs are 0)' pam --permutation-epochs 1 --epochs 0 --momentum .5 n1.mcz n2.mcz
fails_with 2 '--no-nesterov has no effect with --stage permutation' pam --stage permutation --no-nesterov n1.mcz n2.mcz
fails_with 2 '--momentum must be less than 1 for a curve step (got 1)' run --momentum 1 n1.mcz n2.mcz
fails_with 2 '--prune-below has no effect with --draws 0' run --draws 0 --prune-below .1 n1.mcz n2.mcz
fails_with 2 '--terms has no effect with --draws 0' run --draws 0 --terms 3 n1.mcz n2.mcz
fails_with 2 "--draws: '4097' is not a whole number from 0 to 4096" run --draws 4097 n1.mcz n2.mcz
fails_with 2 'total number of epochs must be at most 1000000 (got 1010000)' pam --outer 10000 --permutation-epochs 1 --epochs 100 n1.mcz n2.mcz
fails_with 2 "--stage: unknown value 'neither' (one of: both, permutation, curve)" run --stage neither n1.mcz n2.mcz
fails_with 2 "--outer: '0' is not a whole number from 1 to 10000" run --outer 0 n1.mcz n2.mcz
fails_with 2 "--nu-curve: '-1' is not a number from 1e-12 to 1e+300" run --nu-curve -1 n1.mcz n2.mcz
fails_with 2 'missing: operand B.mcz (see --help)' run n1.mcz
fails_with 2 'missing: --data FILE.mcz (see --help)' mc-pam n1.mcz n2.mcz
fails_with 2 "batchnorm 'layers.0.bn': not a linear layer or ReLU (spectral norms can be bounded only for linear layers with ReLUs between them, such as mlp)" run --spectral 3 --huber .1 n1.mcz n2.mcz
fails 2 'spectral norm*layers.0.linear.weight*at most 0.001' run --spectral .001 --huber .1 plain.mcz plain.mcz
fails 1 'not finite' pam --stage curve --epochs 3 --lr 1e6 --weight-decay 1 plain.mcz plain.mcz
fails_with 1 "cannot write 'nowhere/ck': No such file or directory" run --checkpoint nowhere/ck n1.mcz n2.mcz
fails_with 3 '--select-images must be at most 400, the number of training images (got 401)' run --select-images 401 n1.mcz n2.mcz
fails_with 3 '--select-images must be at most 100, the number of training images (got 128)' run --samples 100 n1.mcz n2.mcz
