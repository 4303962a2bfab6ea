# SPDX-License-Identifier: Apache-2.0
# pam.mk adds mc-pam's curves from the identity and the alignment to those of connect.mk; a second run does nothing.
fixture pam_graph
pam() { graph pam DATA_FLAGS='--size 8' CURVE_EPOCHS=2 PERMUTATION_EPOCHS=2 PAM_FLAGS='--outer 2 --permutation-lr 1 --select-images 256' "$@"; }

names='line-unaligned curve-unaligned line-aligned curve-aligned line-pam-unaligned curve-pam-unaligned line-pam-aligned curve-pam-aligned'
expect_equal "$(sed 1d out/1-2/pam.tsv | cut -f 1 | paste -sd ' ')" "$names"
expect_equal "$(sed 1d out/pam.tsv | cut -f 3 | paste -sd ' ')" "$names"
expect_equal "$(grep aligned out/1-2/table.tsv | sort)" "$(grep -v pam- out/1-2/pam.tsv | sed 1d | sort)"
for f in out{,/1-2}/pam.{svg,png}; do [ -s $f ] || die "no $f"; done
expect_equal "$(find out -name '*.checkpoint')" ''
mc-permute --identity out/net-2.mcz -o identity.mcz
py <<'END'
for name, start in ("unaligned", "identity.mcz"), ("aligned", "out/1-2/permutation.mcz"):
    curve = mcz.read("out/1-2/curve-pam-%s.mcz" % name).tensors
    start = mcz.read(start).tensors
    b = mcz.read("out/1-2/b-pam-%s.mcz" % name).tensors
    assert all(np.array_equal(curve[n], b[n[2:]]) for n in curve if n.startswith("2/"))
    steps = [json.loads(l) for l in open("out/1-2/curve-pam-%s.log.json" % name)]
    moved = [s["moved"] for s in steps if s["event"] == "permutation"]
    apart = sum((curve["permutation/" + g] != p).sum() for g, p in start.items())
    assert len(moved) == 2 and apart <= sum(moved), (apart, moved)
    if not moved[1]:
        assert apart == moved[0]
    assert name == "aligned" or moved[0]
END
pam
expect_equal "$(count_programs)" ''
pam -n
expect_equal "$(count_programs)" ''
# settings of the permutation step affect mc-pam only
pam PERMUTATION_EPOCHS=1 CHANGE=yes
expect_equal "$(count_programs)" 'mc-bezier2 mc-eval4 mc-pam2 mc-permute2 mc-plot4 '
! (pam NO_SUCH=1) >refused || die 'an unknown setting passes'
grep -q "'NO_SUCH' is not a setting" errors
! (pam CURVE_FLAGS='--stop-after 20') >refused || die 'the epochs of another step count'
expect_words errors 'CURVE_FLAGS must not*--stop-after'
