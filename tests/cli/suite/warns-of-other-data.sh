# SPDX-License-Identifier: Apache-2.0
# Programs warn of data that fit a network but are not the network's: another set, another normalisation, the test split for
# training or statistics, plain images for a network of augmented ones. Data that belong to it draw no word.
mc-data -q synth --samples 128 -o train.mcz
mc-data -q synth --split test --samples 64 -o test.mcz
mc-train -q -t 1 --net mlp:bn,4 --data train.mcz --epochs 1 -o net.mcz 2>told
mc-train -q -t 1 --net mlp:bn,4 --data train.mcz --epochs 1 --no-augment -o plain.mcz 2>>told
mc-train -q -t 1 --net mlp:bn,4 --no-normalise --data train.mcz --epochs 1 -o pixels.mcz 2>>told
mc-bezier -q --epochs 0 net.mcz plain.mcz -o line.mcz
mc-pgd -q --data test.mcz --steps 1 net.mcz -o attacked.mcz 2>>told
py <<'PY'
d = mcz.read("test.mcz")
mcz.write("other.mcz", "dataset", {**d.meta, "name": "other", "mean": [.4] * 3}, d.tensors)
mcz.write("folder.mcz", "dataset", {**d.meta, "name": "folder", "mean": [m * 1.001 for m in d.meta["mean"]]}, d.tensors)
PY
quiet() { "$@" >out 2>told && [ ! -s told ] || die "$*: $(cat told)"; }
warned() { # LINES COMMAND...
    "${@:2}" >out 2>told || die "$*: $(cat told)"
    is "$(<told)" "$1"
}
[ ! -s told ] || die "$(cat told)"
for data in test attacked folder; do quiet mc-eval -q --data $data.mcz net.mcz plain.mcz; done
quiet mc-eval -q --data test.mcz --bn-data train.mcz net.mcz
quiet mc-eval -q --data test.mcz --bn-data train.mcz --bn-plain plain.mcz
quiet mc-eval -q --data folder.mcz pixels.mcz
quiet mc-acts -q --data test.mcz net.mcz plain.mcz
other="mc-NAME: other.mcz: images of other, but the network was trained on synth
mc-NAME: other.mcz: channel 0 has mean 0.4 and deviation 0.183, but the network normalises by 0.252 and 0.183"
warned "${other//NAME/eval}" mc-eval -q --data other.mcz net.mcz plain.mcz
warned "${other//NAME/acts}" mc-acts -q --data other.mcz net.mcz plain.mcz
warned "${other//NAME/pgd}" mc-pgd -q --data other.mcz --steps 1 net.mcz
warned "${other//NAME/permute}" mc-permute --random 1 --verify other.mcz net.mcz
warned "$(printf '%s\n' "$other" | sed 1q | sed s/NAME/eval/)" mc-eval -q --data other.mcz pixels.mcz
split='test.mcz: images of the test split (training images expected)'
warned "mc-eval: $split" mc-eval -q --data test.mcz --bn-data test.mcz net.mcz
warned "mc-bezier: $split" mc-bezier -q --point .5 --bn-data test.mcz line.mcz
warned "mc-train: $split" mc-train -q -t 1 --net mlp:4 --data test.mcz --epochs 1
warned "mc-bezier: $split" mc-bezier -q -t 1 --data test.mcz --epochs 1 net.mcz plain.mcz
plain='--bn-plain: the network was trained on augmented images; statistics of plain ones may cost several points of accuracy'
warned "mc-eval: $plain" mc-eval -q --data test.mcz --bn-data train.mcz --bn-plain net.mcz
warned "mc-bezier: $plain" mc-bezier -q --point .5 --bn-data train.mcz --bn-plain line.mcz
