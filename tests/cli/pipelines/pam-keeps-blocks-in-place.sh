# SPDX-License-Identifier: Apache-2.0
# pam.mk on a network of grouped convolutions keeps blocks at the alignment's or the identity's positions, depending on the
# start. Both curves end in the second network in this order.
/usr/bin/python3 "$MC_ROOT/tests/cli/lib/blocks_net.py" >blocks.json
graph pam NET=./blocks.json DATA_FLAGS='--size 16' TRAIN_IMAGES=64 EPOCHS=1 BATCH=16 PERMUTATION_EPOCHS=1 \
    PAM_FLAGS='--permutation-lr 5 --select-images 16 --draws 2'
py <<'END'
aligned = mcz.read("out/1-2/permutation.mcz").tensors
starts = {"aligned": aligned, "unaligned": {g: np.arange(len(t)) for g, t in aligned.items()}}
for name, start in starts.items():
    curve = mcz.read("out/1-2/curve-pam-%s.mcz" % name).tensors
    b = mcz.read("out/1-2/b-pam-%s.mcz" % name).tensors
    held = [(curve["permutation/" + g] == t).all() for g, t in start.items() if g.endswith("/blocks")]
    assert len(held) == 4 and all(held), (name, held)
    assert all((curve[n] == b[n[2:]]).all() for n in curve if n.startswith("2/"))
assert any((t != np.arange(len(t))).any() for g, t in aligned.items() if g.endswith("/blocks"))
END
expect_equal "$(sed 1d out/1-2/pam.tsv | grep -c pam)" 4
