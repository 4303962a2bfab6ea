# SPDX-License-Identifier: Apache-2.0
# Another file given as --checkpoint is refused unchanged, and the message does not suggest removing it.
samples=$MC_ROOT/formats/samples
cp "$samples/good-weights.mcz" a.mcz
echo 'chapter one' >thesis.txt
: >empty
mkfifo pipe
data="-q -t 1 --data $samples/good-dataset.mcz"
train="mc-train $data --net mlp:3 --no-augment --epochs 1"
for command in "$train" "mc-bezier $data --epochs 1 a.mcz a.mcz" "mc-pam $data --epochs 1 --permutation-epochs 1 a.mcz a.mcz" \
    "mc-eval $data --plane --grid 2 a.mcz a.mcz a.mcz"; do
    for file in thesis.txt empty pipe; do
        usage_error "--checkpoint: '$file' exists*not a checkpoint" $command --checkpoint $file -o x
    done
    usage_error "--checkpoint: 'pipe' exists*not a checkpoint" $command --checkpoint pipe --resume -o x
    [[ $command == mc-eval* ]] || fails_unchanged 3 'thesis.txt:*not an mcz stream' $command --checkpoint thesis.txt --resume -o x
done
cp a.mcz net.mcz
usage_error "--checkpoint: 'net.mcz' exists*not a checkpoint" $train --checkpoint net.mcz -o x
fails_unchanged 3 'net.mcz: checkpoint expected*weights' $train --checkpoint net.mcz --resume -o x
# a real checkpoint, which may be removed
$train --checkpoint ck -o x
usage_error "checkpoint 'ck' exists*--resume" $train --checkpoint ck -o x
