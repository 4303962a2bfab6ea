# SPDX-License-Identifier: Apache-2.0
# mc-info --check refuses well-formed streams that every program would refuse; of unknown kinds it checks only the framing.
samples=$MC_ROOT/formats/samples
py "$samples" <<'END'
def changed(kind, name, change, meta=None):
    s = mcz.read("%s/good-%s.mcz" % (sys.argv[1], kind))
    t = {k: v.copy() for k, v in s.tensors.items()}
    if change:
        change(t)
    mcz.write(name + ".mcz", s.kind, {**s.meta, **(meta or {})}, t)

def first(prefix, value):
    def change(t):
        next(v for k, v in t.items() if k.startswith(prefix)).flat[0] = value
    return change

changed("weights", "nan", first("", np.nan))
changed("curve", "infinite", first("", np.inf))
changed("dataset", "label", first("labels", -1))
changed("dataset", "empty", lambda t: t.update({k: v[:0] for k, v in t.items()}))
changed("activations", "active", first("", np.nan))
changed("moments", "sums", first("", np.nan))
changed("matrices", "matrix", first("", np.inf))
changed("losses", "loss", first("t", np.nan))
changed("permutation", "twice", lambda t: [v.__setitem__(slice(None), 0) for v in t.values()])
changed("weights", "headless", None, {"graph": 1})
mcz.write("nans.mcz", "mine", {}, {"x": np.full(3, np.nan, np.float32)})
END
for bad in nan infinite active sums matrix; do fails 3 'not finite' mc-info --check $bad.mcz; done
fails 3 'label.mcz: image 0*label -1' mc-info --check label.mcz
fails 3 'empty.mcz: ' mc-info --check empty.mcz
fails 3 'twice.mcz: ' mc-info --check twice.mcz
fails 3 'loss.mcz: ' mc-info --check loss.mcz
fails 3 'headless.mcz: ' mc-info --check headless.mcz
fails 3 'stdin: image 0*label' mc-info --check <label.mcz
for good in "$samples"/good-*.mcz nans.mcz; do mc-info --check "$good" | grep -q "^$good: ok, kind "; done
mc-info nan.mcz >/dev/null # without --check it shows the stream
# --check also shows sound streams, exactly as without it, and not those it refuses
mc-info --json "$samples/good-weights.mcz" nan.mcz >both
mc-info --check --json "$samples/good-weights.mcz" | same - <(head -n 1 both)
mc-info --check --graph "$samples/good-weights.mcz" | same - <(mc-info --graph "$samples/good-weights.mcz")
! mc-info --check --json "$samples/good-weights.mcz" nan.mcz >shown 2>errors || die 'nan.mcz passes'
same shown <(head -n 1 both)
expect_words errors 'not finite'
