# SPDX-License-Identifier: Apache-2.0
# mc-convert to safetensors or npz and back keeps every bit, through files and pipes, with --net and --like.
fixture converted

for format in safetensors npz; do
    mc-convert a.mcz -o a.$format
    mc-convert a.mcz --to $format | same a.$format -
    mc-convert a.$format --like a.mcz -o like.mcz
    mc-convert a.$format --net tinyten --data data.mcz -o net.mcz
    same_content a.mcz like.mcz
    same_content a.mcz net.mcz
done
mc-convert <a.safetensors --from safetensors --like a.mcz | mc-convert --to npz | same a.npz -
mc-convert a.safetensors --like a.mcz -o b.npz
same a.npz b.npz
mc-info net.mcz | grep -q 'mc-convert .* from=npz net=tinyten' || die "no history"
