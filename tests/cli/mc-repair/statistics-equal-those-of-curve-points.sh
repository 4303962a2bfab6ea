# SPDX-License-Identifier: Apache-2.0
# mc-repair without --ends measures batch-norm statistics as mc-bezier --point and mc-eval --bn-data do: the same bytes, also
# with other seeds, batches, samples and plain images. It changes nothing else.
fixture pair
mc-bezier --epochs 0 a.mcz b.mcz -o line.mcz
mc-merge a.mcz b.mcz -o m.mcz
mc-data synth --split test --samples 50 --size 16 -o test.mcz
point() { mc-bezier -q -t 1 --point .5 --bn-data data.mcz "$@" line.mcz; }
repair() { mc-repair -q -t 1 --data data.mcz "$@"; }
repair m.mcz -o r.mcz
point | same_content - r.mcz
repair --seed 4 --batch 32 --samples 100 - <m.mcz >s.mcz
point --seed 4 --batch 32 --bn-samples 100 | same_content - s.mcz
different_content r.mcz s.mcz
mc-merge a.mcz b.mcz | repair --images plain >p.mcz 2>/dev/null
point --bn-plain 2>/dev/null | same_content - p.mcz
different_content r.mcz p.mcz
expect_equal "$(mc-eval -q -t 1 --data test.mcz r.mcz | tail -n 1 | cut -f 2-)" \
    "$(mc-eval -q -t 1 --data test.mcz --bn-data data.mcz --points 3 line.mcz | sed -n 3p | cut -f 2-)"
py <<'END'
m, r = (mcz.read(f + ".mcz") for f in "mr")
changed = {k for k, v in m.tensors.items() if not np.array_equal(v, r.tensors[k])}
assert changed == {k for k in m.tensors if ".running_" in k}, changed
assert dict(r.history[-1]["args"])["samples"] == 10000 and r.inputs[0] == m.id and len(r.inputs) == 2
END
# networks trained on augmented images: a warning
mc-repair -t 1 --images plain --data data.mcz m.mcz 2>errors >x.mcz
expect_words errors 'mc-repair: warning: --images plain*trained*augmented'
