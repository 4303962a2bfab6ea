# SPDX-License-Identifier: Apache-2.0
# Programs suggest the right word for misspelled options, networks, data sets, measures, pictures and columns. They also
# suggest an option for PyTorch's names, and for a long option with one dash.
mc-data synth --samples 20 -o d.mcz
printf 't\ttest.loss\ttest.acuracy\n0\t1\t50\n1\t1\t50\n' >table.tsv
fails 2 "unknown option '--ouput'*mean '--output'" mc-train --ouput=x
fails 2 "unknown option '--nothing-like'" mc-train --nothing-like
fails 2 "ambiguous option '--no'*--no-normalise, --no-progress, " mc-train --no
fails 2 "option '--epo' requires*value" mc-train --epo
fails 2 "ambiguous option '--ou'*--output, --outer" mc-pam --ou x
for pair in learning-rate:lr batch-size:batch wd:weight-decay num_workers:threads dataset:data model:net gpu:device; do
    fails 2 "unknown option '--${pair%:*}'*mean '--${pair#*:}'" mc-train "--${pair%:*}" 1
done
fails 2 "unknown option '--optimizer' (SGD*--lr, --momentum, --no-nesterov, --weight-decay)" mc-train --optimizer adam
for word in -net -data -epochs=3 -quiet -lr; do
    fails 2 "unknown option '${word%=*}'*mean '-${word%=*}'" mc-train $word x
done
fails 2 "unknown option '-x'" mc-train -x
fails 2 "unknown option '-z'" mc-info -q -zv d.mcz
fails 2 "unknown option '-z'" mc-info --json -qzv d.mcz
fails 2 "option '-o' requires*value" mc-train -qo
fails 2 "unknown network 'resent20'*mean 'resnet20'*tinyten" mc-train --net resent20 --data d.mcz
fails 2 "unknown network 'alexnet'*tinyten" mc-train --net alexnet --data d.mcz
fails 2 "any other network: python -m mcz.torch export*docs/tutorial.md" mc-train --net wrn-16-2 --data d.mcz
fails 2 "unknown data set 'cifar-10'*mean 'cifar10'*cifar10, cifar100" mc-data cifar-10 x
fails 2 "figure: unknown value 'signatures'*mean 'signature'*path" mc-plot signatures table.tsv
fails 2 "unknown value 'corelation'*mean 'correlation'*correlation, l2, moment" mc-corr --measure corelation
fails 3 "unknown column 'test.accuracy'*mean 'test.acuracy'" mc-plot path table.tsv
