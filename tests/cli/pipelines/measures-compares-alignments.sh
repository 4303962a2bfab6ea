# SPDX-License-Identifier: Apache-2.0
# measures.mk adds a curve per alignment to those of connect.mk; each permutation is the best by its own measure.
fixture connected

bin=$MC_BUILD/bin graph measures
expect_equal "$(count_programs)" 'mc-acts1 mc-bezier4 mc-corr2 mc-eval4 mc-hungarian3 mc-match1 mc-permute4 mc-plot4 '
expect_equal "$(grep -c multiplier errors)" 1
graph measures
expect_equal "$(count_programs)" ''
expect_equal "$(cut -f 1 out/1-2/measures.tsv | paste -sd ' ')" 'path unaligned correlation l2-post l2-pre constrained weights'
expect_equal "$(cut -f 3 out/measures.tsv | paste -sd ' ')" 'path unaligned correlation l2-post l2-pre constrained weights'
expect_equal "$(sed -n 2p out/1-2/measures.tsv | cut -f 2-)" "$(sed -n 's/^curve-unaligned.//p' out/1-2/table.tsv)"
for f in out{,/1-2}/measures.{svg,png}; do [ -s $f ] || die "no $f"; done
py <<'END'
value = {}
for m in "", "-l2-post", "-l2-pre":
    value[m] = mcz.read("out/1-2/matrices%s.mcz" % m)
assert [value[m].meta["at"] for m in value] == ["post", "post", "pre"]
assert [value[m].meta["measure"] for m in value] == ["correlation", "l2", "l2"]
perms = {m: mcz.read("out/1-2/permutation%s.mcz" % m) for m in list(value) + ["-constrained"]}
for group, C in value[""].tensors.items():
    total = lambda m, p: value[m].tensors[group][range(len(C)), perms[p].tensors[group]].sum()
    for m in value:
        assert all(total(m, m) >= total(m, p) - 1e-12 for p in perms), (m, group)
    assert total("-l2-pre", "-constrained") >= value["-l2-pre"].tensors[group].trace()
    assert len({tuple(perms[m].tensors[group]) for m in value}) > 1  # they are not all equal
END
graph measures POINTS=5
expect_equal "$(count_programs)" 'mc-eval6 mc-plot4 '
mc-match -q out/net-1.mcz out/net-2.mcz | same_content - out/1-2/permutation-weights.mcz
for flags in CORR_FLAGS='--measure l2' ACTS_FLAGS='--at pre'; do
    ! (graph measures "$flags") >out.refused || die 'a row would have a wrong name'
    expect_words errors 'CORR_FLAGS*ACTS_FLAGS must not*--measure*--at'
done
