# SPDX-License-Identifier: Apache-2.0
# Programs suggest the right word for misspelled options, networks, data sets, measures, pictures and columns. They also
# suggest an option for PyTorch's names, and for a long option with one dash.
mc-data synth --samples 20 -o d.mcz
printf 't\ttest.loss\ttest.acuracy\n0\t1\t50\n1\t1\t50\n' >table.tsv
fails 2 "unknown option '--ouput', did you mean '--output'? (see --help)" mc-train --ouput=x
fails 2 "unknown option '--nothing-like' (see --help)" mc-train --nothing-like
fails 2 "ambiguous option '--no' (one of: --no-normalise, --no-progress, " mc-train --no
fails 2 "option '--epo' requires a value" mc-train --epo
fails 2 "ambiguous option '--ou' (one of: --output, --outer)" mc-pam --ou x
for pair in learning-rate:lr batch-size:batch wd:weight-decay num_workers:threads dataset:data model:net gpu:device; do
    fails 2 "unknown option '--${pair%:*}', did you mean '--${pair#*:}'? (see --help)" mc-train "--${pair%:*}" 1
done
fails 2 "unknown option '--optimizer' (SGD only: --lr, --momentum, --no-nesterov, --weight-decay)" mc-train --optimizer adam
for word in -net -data -epochs=3 -quiet -lr; do
    fails 2 "unknown option '${word%=*}', did you mean '-${word%=*}'? (see --help)" mc-train $word x
done
fails 2 "unknown option '-x' (see --help)" mc-train -x
fails 2 "option '-o' requires a value (see --help)" mc-train -qo
fails 2 "unknown network 'resent20', did you mean 'resnet20'? (one of: tinyten" mc-train --net resent20 --data d.mcz
fails 2 "unknown network 'alexnet' (one of: tinyten" mc-train --net alexnet --data d.mcz
fails 2 "for any other network: python -m mcz.torch export, see docs/tutorial.md)" mc-train --net wrn-16-2 --data d.mcz
fails 2 "unknown data set 'cifar-10', did you mean 'cifar10'? (one of: cifar10, cifar100" mc-data cifar-10 x
fails 2 "figure: unknown value 'signatures', did you mean 'signature'? (one of: path" mc-plot signatures table.tsv
fails 2 "unknown value 'corelation', did you mean 'correlation'? (one of: correlation, l2)" mc-corr --measure corelation
fails 3 "unknown column 'test.accuracy', did you mean 'test.acuracy'? (one of: " mc-plot path table.tsv
