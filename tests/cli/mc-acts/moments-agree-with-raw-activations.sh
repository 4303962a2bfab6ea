# SPDX-License-Identifier: Apache-2.0
# mc-acts' moments are those of the activations that --raw writes, after the ReLU or, with --at pre, before it.
fixture pair

collect a.mcz b.mcz -o m.mcz
collect --at pre a.mcz b.mcz -o pre.mcz
different_content m.mcz pre.mcz
collect --raw a.mcz -o post.acts
collect --raw --at pre a.mcz -o pre.acts
py $((total / 5)) <<'END'
post, pre, m = (mcz.read(f) for f in ("post.acts", "pre.acts", "m.mcz"))
assert post.meta["images"] == int(sys.argv[1]) and len(post.tensors) == 8
for i, (x, y) in enumerate(zip(post.tensors.values(), pre.tensors.values())):
    assert (x == np.maximum(y, 0)).all() and (y < 0).any()
    tap = m.meta["taps"][i]
    x = x.astype(np.float64).transpose(1, 0, 2, 3).reshape(tap["count"], -1)
    assert x.shape[1] == tap["samples"]
    for what, want in ("sum_a", x.sum(1)), ("sumsq_a", (x * x).sum(1)):
        got = m.tensors["%d/%s/%s" % (i, tap["name"], what)]
        assert np.allclose(got, want, rtol=1e-6, atol=0), (tap["name"], what)
END
