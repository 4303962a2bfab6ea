# SPDX-License-Identifier: Apache-2.0
# mc-align --merge writes the repaired mean, --plot draws the line before and after, --keep keeps every stream. With --groups it
# aligns safetensors of a network without a graph.
fixture pair recoverable
mc-align -q --data data.mcz --merge --plot 'my line.svg' --keep 'all, of=it' a.mcz b.mcz -o mean.mcz
expect_equal "$(ls 'all, of=it' | paste -sd ' ')" \
    'after.tsv aligned.mcz before.tsv matrices.mcz mean.mcz moments.mcz permutation.mcz'
mc-align -q --data data.mcz a.mcz b.mcz -o aligned.mcz
mc-merge a.mcz aligned.mcz -o merged.mcz
same_content merged.mcz 'all, of=it/mean.mcz'
mc-repair -q --data data.mcz merged.mcz --ends a.mcz aligned.mcz -o x.mcz
same_content mean.mcz x.mcz
mc-eval -q --line --points 21 --data data.mcz --bn-data data.mcz a.mcz aligned.mcz -o x.tsv
same 'all, of=it/after.tsv' x.tsv
svg_texts 'my line.svg' | grep -q before && svg_texts 'my line.svg' | grep -q after || die "$(svg_texts 'my line.svg')"

# without a graph: y = up x, then down, with two networks that differ by the order of four units
py <<'END'
import mcz.safetensors
r = np.random.default_rng(1)
up, down, order = r.standard_normal((4, 3), "f4"), r.standard_normal((2, 4), "f4"), [2, 0, 3, 1]
mcz.safetensors.write("a.safetensors", {"up.weight": up, "down.weight": down})
mcz.safetensors.write("b.safetensors", {"up.weight": up[order], "down.weight": down[:, order]})
END
printf '%s\t%s\t%s\t%s\t%s\t%s\n' tensor axis offset count block group up.weight 0 0 4 1 units down.weight 1 0 4 1 units >groups.tsv
mc-align -q --groups groups.tsv a.safetensors b.safetensors -o pb.safetensors
mc-align -q --groups groups.tsv --merge --keep k a.safetensors b.safetensors -o mean.safetensors
mc-align -q --groups groups.tsv --merge a.safetensors b.safetensors | same_content - k/mean.mcz
py <<'END'
import mcz.safetensors
a, pb, mean = ((mcz.safetensors.read(n + ".safetensors")) for n in ("a", "pb", "mean"))
for x in pb, mean:
    assert all(np.array_equal(np.asarray(x[n]), np.asarray(a[n])) for n in a), x
END
