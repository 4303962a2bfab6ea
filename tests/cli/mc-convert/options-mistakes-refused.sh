# SPDX-License-Identifier: Apache-2.0
# mc-convert refuses wrong options, damaged inputs and a failed upstream program. It pins the wording of its messages.
fixture converted

fails_with 2 'an input or output named *.safetensors or *.npz is required (or --from, --to or --f32)' mc-convert a.mcz -o no.mcz
fails_with 2 'a.npz: one of --like WEIGHTS.mcz, --groups FILE.tsv and --net NAME with --data FILE.mcz is required: a npz file does not contain its network' mc-convert a.npz -o no.mcz
fails_with 2 'a.npz: one of --like WEIGHTS.mcz, --groups FILE.tsv and --net NAME with --data FILE.mcz is required: a npz file does not contain its network' mc-convert a.npz --like a.mcz --net tinyten -o no.mcz
fails_with 2 '--net and --data require each other' mc-convert a.npz --net tinyten -o no.mcz
fails_with 2 '--like has no effect: a.mcz contains its network' mc-convert a.mcz --like a.mcz -o no.npz
fails_with 2 'nowhere: no such file or folder' mc-convert nowhere --groups g.tsv -o no.mcz
fails_with 2 'nowhere: no such file or folder' mc-convert nowhere --like a.mcz -o no.npz
mkdir folder
fails_with 2 "--output: 'folder' is a folder (use -o folder/model.safetensors)" mc-convert a.mcz -o folder
fails_with 2 "--to: unknown value 'pickle' (one of: mcz, safetensors, npz)" mc-convert a.mcz --to pickle -o no.npz
usage_error '--map has no effect*stream' mc-convert a.mcz --f32 --map x.map -o no.mcz
fails_with 2 "unexpected argument 'b.mcz' (expected: [IN])" mc-convert a.mcz b.mcz -o no.npz
fails_with 2 'only one input can be standard input' mc-convert --from safetensors --like -
fails_with 1 "cannot open 'nothing.safetensors': No such file or directory" mc-convert nothing.safetensors --like a.mcz
head -c 9000 data.mcz >cut.mcz
fails 3 'cut.mcz: *truncated' mc-convert a.npz --net tinyten --data cut.mcz -o no.mcz
fails_with 3 'data.mcz: weights expected, got dataset: train with mc-train first, or check the order of the operands' mc-convert data.mcz -o no.npz
fails 2 "unknown network 'nothing'*tinyten" mc-convert a.npz --net nothing --data data.mcz -o no.mcz
[ ! -e no.mcz ] && [ ! -e no.npz ] || die "a failed run wrote its output"
rc=0
head -c 5000 a.mcz | mc-convert - --to safetensors 2>errors | mc-convert --from safetensors --like a.mcz 2>err >out || rc=$?
[ $rc = 3 ] && grep -q 'stdin: truncated' err && [ ! -s out ] || die "a failed upstream: $rc $(cat err)"
