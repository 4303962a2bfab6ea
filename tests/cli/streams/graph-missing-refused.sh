# SPDX-License-Identifier: Apache-2.0
# Programs that run a network refuse one without a graph in one line.
fixture pair
mc-convert a.mcz -o a.safetensors
printf 'tensor\taxis\toffset\tcount\tblock\tgroup\n' >none.tsv
mc-convert a.safetensors --groups none.tsv -o net.mcz
mc-permute --identity net.mcz | mc-permute - net.mcz | same_content - net.mcz
mc-bezier --epochs 0 net.mcz net.mcz -o line.mcz
refuses() { fails_unchanged 3 "$1:*network*graph*required" "${@:2}"; }
refuses net.mcz mc-eval --data data.mcz net.mcz -o x.tsv
refuses net.mcz mc-eval --data data.mcz --line --bn average net.mcz net.mcz -o x.tsv
refuses line.mcz mc-eval --data data.mcz line.mcz -o x.tsv
refuses net.mcz mc-eval --plane --data data.mcz net.mcz net.mcz net.mcz -o x.tsv
refuses net.mcz mc-acts --data data.mcz net.mcz net.mcz -o x.mcz
refuses net.mcz mc-acts --data data.mcz --raw net.mcz -o x.mcz
refuses net.mcz mc-pgd --data data.mcz net.mcz -o x.mcz
refuses net.mcz mc-repair --data data.mcz net.mcz -o x.mcz
refuses net.mcz mc-repair --data data.mcz a.mcz --ends net.mcz -o x.mcz
refuses net.mcz mc-pam --data data.mcz net.mcz net.mcz -o x.mcz
refuses net.mcz mc-bezier --data data.mcz --epochs 1 net.mcz net.mcz -o x.mcz
refuses net.mcz mc-train --data data.mcz --init net.mcz --epochs 1 -o x.mcz
refuses net.mcz mc-permute --verify data.mcz --random 1 net.mcz -o x.mcz
refuses net.mcz mc-bound net.mcz net.mcz "$MC_ROOT/formats/samples/good-moments.mcz" -o x.tsv
fails_unchanged 3 "net.mcz: weights*curve*graph expected*weights" mc-info --graph net.mcz
fails_unchanged 3 "net.mcz*a.mcz: different networks (groups, tinyten): one*no graph" mc-match net.mcz a.mcz -o x.mcz
for k in 4 5; do
    py $k <<'END'
from mcz import safetensors
safetensors.write("w.safetensors", {"w": np.zeros((int(sys.argv[1]), 3), "f4")})
END
    mc-convert w.safetensors --groups none.tsv -o w$k.mcz
done
fails_unchanged 3 'w4.mcz and w5.mcz: different networks (groups, groups): tensor "w"*shapes (4,3) and (5,3)' mc-merge w4.mcz w5.mcz -o x.mcz
