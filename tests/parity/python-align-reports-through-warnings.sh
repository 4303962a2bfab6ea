# SPDX-License-Identifier: Apache-2.0
# mcz.torch.align and align_many turn the programs' notes into Python warnings at the user's line, and print only the lines of
# -v. A missing program is reported before the loader is read.
need_torch 2.4
export OMP_NUM_THREADS=1
cat >warn.py <<'END'
import os, sys, warnings
import mcz, mcz.programs, mcz.torch, torch
from torch import nn

GROUPS = {"hidden": {"out": ["0.*:0"], "in": ["2.weight:1"], "at": "1"}}
a, b, c = (nn.Sequential(nn.Linear(5, 6), nn.ReLU(), nn.Linear(6, 3)) for _ in range(3))
dead = [torch.zeros(8, 5)]
LINES = "mc-corr: hidden: of 6 units,", "mc-hungarian: hidden: of 6 units,"
for call in lambda: mcz.torch.align(a, b, dead, GROUPS), lambda: mcz.torch.align_many([a, b, c], dead, GROUPS):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    assert all(w.filename == __file__ and w.lineno == call.__code__.co_firstlineno for w in found), found
    assert {str(w.message)[:len(line)] for w in found for line in LINES} >= {LINES[0]}, found
    assert not any("warning: " in str(w.message) for w in found)
with warnings.catch_warnings(record=True) as found:
    warnings.simplefilter("always")
    p = mcz.torch.align(a, b, [torch.randn(40, 5)], GROUPS, options=["-v"])
    assert isinstance(p, mcz.Stream) and repr(p).startswith("<permutation stream") and not found, found
read = []


def loader():
    read.append(1)
    yield torch.randn(8, 5)


os.environ["PATH"], sys.executable = "/nonexistent", "/nonexistent/python"
for call, name in ((lambda: mcz.torch.align(a, b, loader(), GROUPS), "mc-corr"),
                   (lambda: mcz.torch.align(a, b, loader(), by="weights"), "mc-match"),
                   (lambda: mcz.torch.align_many([a, b], [x for x in ()], GROUPS), "mc-corr")):
    try:
        call()
        assert False
    except FileNotFoundError as e:
        assert str(e).startswith(name + " is not on PATH (install mc: docs/guides/wheel.md;") and not read, e
END
$python warn.py 2>err
grep -q '^mc-hungarian: hidden: 6 units, value' err || die "$(cat err)"
expect_equal "$(grep -vc '^mc-hungarian: ' err)" 0
[ -e "$MC_ROOT/docs/guides/wheel.md" ]
