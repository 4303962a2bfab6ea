# SPDX-License-Identifier: Apache-2.0
# Programs suggest the right word for misspelled options, networks, data sets, measures, pictures and columns.
mc-data synth --samples 20 -o d.mcz
printf 't\ttest.loss\ttest.acuracy\n0\t1\t50\n1\t1\t50\n' >table.tsv
fails 2 "there is no option '--ouput', did you mean '--output'? (see --help)" mc-train --ouput=x
fails 2 "there is no option '--nothing-like' (see --help)" mc-train --nothing-like
fails 2 "option '--no' may be one of " mc-train --no
fails 2 "option '--epo' needs a value" mc-train --epo
fails 2 "unknown network 'resent20', did you mean 'resnet20'? (one of: tinyten" mc-train --net resent20 --data d.mcz
fails 2 "unknown network 'alexnet' (one of: tinyten" mc-train --net alexnet --data d.mcz
fails 2 "unknown data set 'cifar-10', did you mean 'cifar10'? (one of: cifar10, cifar100" mc-data cifar-10 x
fails 2 "picture: there is no 'signatures', did you mean 'signature'? (there are: path" mc-plot signatures table.tsv
fails 2 "there is no 'corelation', did you mean 'correlation'? (there are: correlation, l2)" mc-corr --measure corelation
fails 3 "unknown column 'test.accuracy', did you mean 'test.acuracy'? (one of: " mc-plot path table.tsv
