# SPDX-License-Identifier: Apache-2.0
# mc-info --check holds a checkpoint against every rule of its page, whatever run it is of.
mc-data synth --samples 64 -o data.mcz
mc-train -q -t 1 --net mlp:4 --data data.mcz --schedule step:.5 --epochs 2 --stop-after 1 --checkpoint good.mcz -o net.mcz
py <<'PY'
from mcz import kinds
tensors = {"point": np.zeros(3, np.float32)}
meta = {"version": 2, "tool": "mc-train", "settings": {"lr": "0.1"}, "epoch": 2}
class Unchecked:
    def __init__(self, *_): pass
    def values(self, *_): pass
kinds.Checker = Unchecked
def bad(name, values=tensors, **changed):
    mcz.write(name + ".mcz", "checkpoint", {k: v for k, v in {**meta, **changed}.items() if v is not None}, values)
bad("sound")
bad("tool", tool=None)
bad("tool-long", tool="x" * 64)
bad("settings", settings=None)
bad("settings-number", settings={"lr": .1})
bad("settings-long", settings={"lr": "1" * 200})
bad("epoch", epoch=-1)
bad("version", version=3)
bad("bytes", {"point": np.zeros(3, np.uint8)})
bad("matrix", {"point": np.zeros((3, 1), np.float32)})
PY
for f in good sound; do mc-info --check $f.mcz >out 2>&1 || die "$f: $(cat out)"; done
check() { fails 3 "mc-info: $1.mcz: $2" mc-info --check "$1.mcz"; }
check tool '"tool"'
check tool-long '"tool"'
check settings '"settings"'
check settings-number '"lr"'
check settings-long '"lr"'
check epoch '"epoch"'
check version 'a checkpoint of version 3; this program reads 2'
check bytes 'tensor "point" is not float32 of one dimension'
check matrix 'tensor "point" is not float32 of one dimension'
