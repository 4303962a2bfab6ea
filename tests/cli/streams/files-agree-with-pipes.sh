# SPDX-License-Identifier: Apache-2.0
# Networks in files are read in pieces, networks from pipes at once. Both give the same bytes, also of --perm-out and of lines
# with --perm. A file that is damaged at its end leaves the old output, no temporary file and no complete stream.
fixture pair
mc-permute --random 3 --perm-out p.mcz b.mcz -o pb.mcz
cat b.mcz | mc-permute --random 3 --perm-out p2.mcz - | cmp - pb.mcz
cmp p.mcz p2.mcz
mc-permute p.mcz b.mcz -o q.mcz
mc-permute p.mcz - <b.mcz | cmp - q.mcz
mc-permute --identity b.mcz -o i.mcz
cat b.mcz | mc-permute --identity - | cmp - i.mcz
for shape in '' --chain; do
    mc-bezier -q --epochs 0 $shape a.mcz pb.mcz -o line.mcz
    mc-bezier -q --epochs 0 $shape <(cat a.mcz) pb.mcz | cmp - line.mcz
    mc-bezier -q --epochs 0 $shape --perm p.mcz a.mcz b.mcz -o moved.mcz
    mc-bezier -q --epochs 0 $shape --perm p.mcz a.mcz <(cat b.mcz) | cmp - moved.mcz
    mc-info --check -q line.mcz moved.mcz
done
mc-permute moved.mcz b.mcz | same_content - pb.mcz
mc-merge a.mcz pb.mcz -o m.mcz
mc-merge <(cat a.mcz) - <pb.mcz | cmp - m.mcz

# networks without batch norm: points of curves in files are also computed in pieces
mc-data synth --samples 20 -o d.mcz
for s in 1 2 3; do mc-train -q -t 1 --net mlp:6,5 --data d.mcz --epochs 0 --seed $s -o m$s.mcz; done
mc-bezier -q --epochs 0 m1.mcz m2.mcz -o mline.mcz
mc-bezier -q --epochs 0 --start m3.mcz m1.mcz m2.mcz -o bent.mcz
mc-bezier -q --epochs 0 --chain --control-points 3 m1.mcz m2.mcz -o chain.mcz
for c in mline bent chain; do
    for t in 0 .3 .5 1; do
        mc-bezier --point $t $c.mcz -o $c-$t.mcz
        mc-bezier --point $t - <$c.mcz | cmp - $c-$t.mcz
        cat $c.mcz | mc-bezier --point $t - | cmp - $c-$t.mcz
    done
done
same_content mline-0.mcz m1.mcz
same_content bent-1.mcz m2.mcz

# foreign files, also from and to pipes: PyTorch's order is not that of a stream
mc-convert a.mcz -o a.safetensors
cat a.mcz | mc-convert - --to safetensors | cmp - a.safetensors
mc-convert a.safetensors --like a.mcz -o back.mcz
cat a.safetensors | mc-convert --from safetensors --like a.mcz | cmp - back.mcz
mc-convert a.safetensors --like a.mcz -o a.npz
mc-convert a.npz --like a.mcz --to safetensors | cmp - a.safetensors
same_content back.mcz a.mcz

head -c -1 b.mcz >cut.mcz
head -c -1 mline.mcz >cut-line.mcz
head -c -1 a.safetensors >cut.safetensors
/usr/bin/python3 -c 'import sys; b = bytearray(open("b.mcz", "rb").read()); b[-2] ^= 1; open("flipped.mcz", "wb").write(b)'
for bad in cut flipped; do
    for command in "mc-permute p.mcz $bad.mcz" "mc-permute --random 1 --perm-out out.mcz $bad.mcz" "mc-permute --identity $bad.mcz" \
        "mc-merge a.mcz $bad.mcz" "mc-bezier --epochs 0 a.mcz $bad.mcz" "mc-bezier --epochs 0 --perm p.mcz $bad.mcz b.mcz" \
        "mc-convert $bad.mcz -o x.safetensors" "mc-convert $bad.mcz --f32" "mc-convert a.safetensors --like $bad.mcz"; do
        rm -f out.mcz x.safetensors
        [[ $command == *' -o '* ]] && out= || out='-o old.mcz'
        echo old >old.mcz
        # shellcheck disable=SC2086 # words
        fails 3 "$bad.mcz: " $command $out
        [ "$(<old.mcz)" = old ] && [ ! -e out.mcz ] && [ ! -e x.safetensors ] || die "$command left an output"
    done
done
fails 3 'cut-line.mcz: ' mc-bezier --point .5 cut-line.mcz -o old.mcz
fails 3 'cut.safetensors: ' mc-convert cut.safetensors --like a.mcz -o old.mcz
[ "$(<old.mcz)" = old ] || die "a failed run replaced its output"
no_temporaries
mc-permute p.mcz cut.mcz 2>/dev/null | fails 3 'stdin' mc-info --check -
