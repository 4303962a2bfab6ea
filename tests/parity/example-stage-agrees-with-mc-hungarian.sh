# SPDX-License-Identifier: Apache-2.0
# The example stage, SciPy's assignment, finds the same permutation as mc-hungarian, works in a pipe, and refuses a truncated
# stream.
set -eu
python=/usr/bin/python3
$python -c 'import scipy.optimize, msgpack, zstandard, xxhash' 2>/dev/null || exit 77
export PYTHONPATH=$MC_ROOT/formats/python
$python - <<'EOF'
import mcz, numpy as np
rng = np.random.default_rng(1)
groups, tensors = [], {}
for k in (1, 2, 16, 65, 200):
    name = "layer%d" % k
    x = rng.normal(size=(k, 4 * k))
    y = x[rng.permutation(k)] + rng.normal(size=x.shape)
    tensors[name] = np.corrcoef(x, y)[:k, k:] if k > 1 else np.ones((1, 1))
    groups.append({"name": name, "size": k, "taps": 1, "dead_a": [], "dead_b": []})
mcz.write("m.mcz", "matrices", {"measure": "correlation", "at": "post", "groups": groups}, tensors)
EOF
mc-hungarian -q m.mcz -o hungarian.mcz
"$MC_ROOT/formats/python/example_assign.py" <m.mcz | mc-info --check
"$MC_ROOT/formats/python/example_assign.py" m.mcz >scipy.mcz
$python - <<'EOF'
import mcz, numpy as np
a, b = mcz.read("hungarian.mcz"), mcz.read("scipy.mcz")
assert a.kind == b.kind == "permutation" and a.inputs == b.inputs
assert list(a.tensors) == list(b.tensors) and len(a.tensors) == 5
for name in a.tensors:
    assert a.tensors[name].dtype == b.tensors[name].dtype == np.int32
    assert np.array_equal(a.tensors[name], b.tensors[name]), name
moved = sum(int((p != np.arange(len(p))).sum()) for p in a.tensors.values())
assert moved > 200, moved
EOF
# a truncated input gives no stream, so that the next program fails too
head -c 1000 m.mcz | "$MC_ROOT/formats/python/example_assign.py" 2>err | mc-info --check 2>err2 && exit 1
grep -q '^example_assign.py: stdin: header: truncated$' err || { cat err; exit 1; }
grep -q 'is empty' err2
# the exit statuses are those of the programs, also on a full disk
fails 3 'truncated' "$MC_ROOT/formats/python/example_assign.py" <(head -c 1000 m.mcz)
rc=0
env -u PYTHONUNBUFFERED "$MC_ROOT/formats/python/example_assign.py" "$MC_ROOT/formats/samples/good-matrices.mcz" >/dev/full 2>err || rc=$?
expect_equal "$rc $(wc -l <err)" '1 1'
# mc-permute accepts its output
"$MC_ROOT/formats/python/example_assign.py" "$MC_ROOT/formats/samples/good-matrices.mcz" |
    mc-permute - "$MC_ROOT/formats/samples/good-weights.mcz" | mc-info --check | grep -q 'kind weights'
