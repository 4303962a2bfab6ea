# SPDX-License-Identifier: Apache-2.0
# Networks with grouped convolutions, group norm in a residual block, grouped-query attention and heads that layers share keep
# their outputs in float64 when all their groups are permuted. mc-permute and mcz.torch.permute write the same tensors; inverse
# and composition are exact. mc-match recovers the permutation from the weights, mc-hungarian from activations.
need_torch 2.4
nets() { "$python" "$MC_ROOT/tests/parity/nested_nets.py" "$@"; }

for net in regnet norm gqa2 gqa3 tied shared; do
    nets make $net
    mc-convert -q $net.safetensors --groups $net.tsv -o a.mcz
    mc-info --check -q a.mcz
    mc-permute -q --random 5 --perm-out p.mcz a.mcz -o q.mcz
    mc-permute -v p.mcz a.mcz 2>moved >/dev/null
    for part in $(case $net in regnet) echo blocks block1.0 block2.1 block0.2 ;; norm) echo blocks block0 block2 ;;
        shared) echo heads kv1.qk kv3.v ;; *) echo kv kv0.q kv2.v ;; esac); do
        grep -q "$part: [1-9]" moved || die "$net: $part does not move: $(cat moved)"
    done
    mc-convert -q q.mcz -o q.safetensors
    difference=$(nets logits $net q.safetensors)
    awk -v d="$difference" 'BEGIN { exit !(d < 1e-9) }' || die "$net: outputs differ by $difference"
    nets permute $net p.mcz python.safetensors
    mc-convert -q python.safetensors --groups $net.tsv | same_content - q.mcz
    mc-permute --inverse p.mcz q.mcz | same_content - a.mcz
    mc-permute -q --random 6 --perm-out r.mcz q.mcz -o rq.mcz
    mc-permute --compose p.mcz r.mcz -o pr.mcz
    mc-permute -q pr.mcz a.mcz | same_content - rq.mcz
    mc-match -q a.mcz q.mcz | mc-permute - q.mcz | same_content - a.mcz || die "$net: mc-match"
    if [ $net != tied ]; then # no module shows query heads in an order of entries that both networks share
        nets moments $net q.safetensors m.mcz
        mc-corr -q m.mcz | mc-hungarian -q | mc-permute -q - q.mcz | same_content - a.mcz || die "$net: mc-hungarian"
    fi
    echo "$net: outputs differ by $difference"
done
