# SPDX-License-Identifier: Apache-2.0
# mc-convert refuses wrong options, damaged inputs and a failed upstream program.
fixture converted

fails 2 'an input or output named *.safetensors or *.npz is required' mc-convert a.mcz -o no.mcz
fails 2 'one of --like WEIGHTS.mcz, --groups FILE.tsv and --net NAME with --data FILE.mcz is required' mc-convert a.npz -o no.mcz
fails 2 'one of --like WEIGHTS.mcz, --groups FILE.tsv and --net NAME with --data FILE.mcz is required' mc-convert a.npz --like a.mcz --net tinyten -o no.mcz
fails 2 '--net and --data require each other' mc-convert a.npz --net tinyten -o no.mcz
fails 2 '--like has no effect: a.mcz contains its network' mc-convert a.mcz --like a.mcz -o no.npz
fails 2 'nowhere: no such file or folder' mc-convert nowhere --groups g.tsv -o no.mcz
fails 2 'nowhere: no such file or folder' mc-convert nowhere --like a.mcz -o no.npz
mkdir folder
fails 2 "--output: 'folder' is a folder (use -o folder/model.safetensors)" mc-convert a.mcz -o folder
fails 2 'safetensors' mc-convert a.mcz --to pickle -o no.npz
fails 2 "unexpected argument 'b.mcz'" mc-convert a.mcz b.mcz -o no.npz
fails 2 'standard input' mc-convert --from safetensors --like -
fails 1 "cannot open 'nothing.safetensors'" mc-convert nothing.safetensors --like a.mcz
head -c 9000 data.mcz >cut.mcz
fails 3 'cut.mcz' mc-convert a.npz --net tinyten --data cut.mcz -o no.mcz
fails 3 'expected, got dataset' mc-convert data.mcz -o no.npz
fails 2 'unknown network' mc-convert a.npz --net nothing --data data.mcz -o no.mcz
[ ! -e no.mcz ] && [ ! -e no.npz ] || die "a failed run wrote its output"
rc=0
head -c 5000 a.mcz | mc-convert - --to safetensors 2>errors | mc-convert --from safetensors --like a.mcz 2>err >out || rc=$?
[ $rc = 3 ] && grep -q 'stdin: truncated' err && [ ! -s out ] || die "a failed upstream: $rc $(cat err)"
