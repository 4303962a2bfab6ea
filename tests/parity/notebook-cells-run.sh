# SPDX-License-Identifier: Apache-2.0
# The cells of docs/notebooks/align.ipynb run in plain Python, and alignment helps there. Without matplotlib nothing is drawn.
need_torch 2.15
export OMP_NUM_THREADS=1 MPLBACKEND=agg
$python - "$MC_ROOT/docs/notebooks/align.ipynb" <<'END'
import importlib.util, json, re, sys
from unittest.mock import MagicMock
if not importlib.util.find_spec("matplotlib"):
    sys.modules["matplotlib"] = sys.modules["matplotlib.pyplot"] = MagicMock()
names = {}
for cell in json.load(open(sys.argv[1]))["cells"]:
    if cell["cell_type"] == "code":
        exec(re.sub(r"^!(.*)", r"__import__('subprocess').run(r'''\1''', shell=True, check=True)", cell["source"], flags=re.M), names)
before, after = (names[k].barrier("test.loss") for k in ("as_trained", "aligned"))
assert after < .7 * before, (before, after)
ends, means = ([names["accuracy"](n) for n in own] for own in (
    (names["a"], names["b"]), (names["mcz"].torch.merge(names["a"], names["b"], p) for p in (None, names["p"]))))
assert min(ends) > .5 and means[1] > means[0] + .1, (ends, means)
assert names["learned"].barrier("test.loss") < before
assert repr(names["p"]).startswith("<permutation stream, ") and repr(names["groups"]).startswith("<10 groups of ")
END
