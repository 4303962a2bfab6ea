# SPDX-License-Identifier: Apache-2.0
# A small GPT and a ViT from PyTorch with a group file have the same logits after heads, and channels within heads, are
# permuted. mc-match finds planted permutations from the weights. If two networks continue one training and one of them is
# permuted, their midpoint after matching is as good as the ends. The midpoint of independent networks is printed only.
need_torch 2.4
transformers() { "$python" "$MC_ROOT/tests/parity/transformer_networks.py" "$@"; }
middle() { mc-bezier --epochs 0 "$1" "$2" | mc-bezier --point 0.5 - | mc-convert --to safetensors - -o "$3"; }

for net in gpt vit; do
    transformers make $net made
    mc-convert -q made.safetensors --groups made.tsv -o made.mcz
    mc-permute --random 5 --perm-out planted.mcz made.mcz -o q.mcz
    mc-convert q.mcz -o q.safetensors
    transformers logits $net made q.safetensors >logits
    awk '{ if ($1 > 1e-5 * $2 || !($2 > .1)) exit 1 }' logits || die "$net, permuted: logits $(cat logits)"
    mc-permute -v planted.mcz made.mcz 2>&1 >/dev/null | grep -q 'head[0-9].qk: [1-9]' || die 'nothing moves within a head'
    mc-permute -v planted.mcz made.mcz 2>&1 >/dev/null | grep -q 'heads: [1-9]' || die 'no head moves'
    mc-match -q made.mcz q.mcz -o p.mcz
    mc-permute p.mcz q.mcz | same_content - made.mcz
    mc-match -q -t 1 made.mcz q.mcz | same - p.mcz
    mc-permute --inverse planted.mcz q.mcz | same_content - made.mcz
    # also from activations, for modules that show the units within heads
    if [ $net = gpt ]; then
        transformers moments $net made q.safetensors m.mcz
        mc-corr -q m.mcz | mc-hungarian -q | mc-permute -q - q.mcz | same_content - made.mcz
    fi

    transformers train $net t 120
    for end in a b base other; do mc-convert -q t-$end.safetensors --groups t.tsv -o $end.mcz; done
    mc-permute --random 6 b.mcz -o q.mcz
    mc-match -q a.mcz q.mcz | mc-permute - q.mcz -o pq.mcz
    mc-match -q --log-json log.json base.mcz other.mcz | mc-permute - other.mcz -o pother.mcz
    middle a.mcz b.mcz same.safetensors
    middle a.mcz q.mcz permuted.safetensors
    middle a.mcz pq.mcz matched.safetensors
    middle base.mcz other.mcz apart.safetensors
    middle base.mcz pother.mcz aligned.safetensors
    transformers loss $net t-{a,b,base,other}.safetensors {same,permuted,matched,apart,aligned}.safetensors >losses
    awk '{ loss[$1] = $2 } END { a = loss["t-a.safetensors"]; m = loss["matched.safetensors"]
        if (!(m < 1.2 * a + .02 && loss["permuted.safetensors"] > 1.3 * m)) exit 1 }' losses || die "$net: $(cat losses)"
    echo "$net: logits $(cat logits); $(tr '\t\n' ' ;' <losses)"
done
