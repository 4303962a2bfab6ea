# SPDX-License-Identifier: Apache-2.0
# Programs recognise the same file through links, redirections and other names.
samples=$MC_ROOT/formats/samples
cp "$samples/good-dataset.mcz" d.mcz
cp "$samples/good-weights.mcz" w.mcz
cp "$samples/good-permutation.mcz" p.mcz
ln -s d.mcz link
ln d.mcz hard
ln -s nothing dangling
mkdir sub
ln -s .. sub/here
train="mc-train -q --no-augment --net mlp:8 --epochs 1 --data d.mcz"
for name in link hard ./d.mcz sub/../d.mcz "$PWD/d.mcz" sub/here/d.mcz; do
    usage_error "--log-json*--data*same file '$name'" $train --log-json "$name" -o x
    usage_error "--output*--data*same file '$name'" $train -o "$name"
done
usage_error "--log-json*standard input*same file 'd.mcz'" $train --data - --log-json d.mcz -o x <d.mcz
usage_error "--log-json*--data*same file 'd.mcz'" $train --data /dev/stdin --log-json d.mcz -o x <hard
for name in ./x sub/../x "$PWD/x" sub/here/x; do
    usage_error "--log-json*--output*same file '$name'" $train -o x --log-json "$name"
done
usage_error "same file 'dangling'" $train -o nothing --log-json dangling
: >x
usage_error "--log-json*standard output*same file 'x'" sh -c "$train --log-json x >>x"
usage_error "standard output*input*same file 'w.mcz'" sh -c 'mc-permute p.mcz w.mcz 1<>w.mcz'
usage_error "one output*standard output" mc-permute p.mcz w.mcz --perm-out -
usage_error "one input*standard input" mc-plot path - a=-
rm x
