# SPDX-License-Identifier: Apache-2.0
# The message of mcz.Error is printable, whatever it names: a file, a tensor, a key or a group. Only a list of problems has lines.
python=/usr/bin/python3
$python -c 'import msgpack, zstandard, xxhash, numpy' 2>/dev/null || exit 77
[ "${MC_UNDER:-}" != valgrind ] || exit 77
$python - <<'END'
import json
import os
import pickle
import mcz
from mcz import errors, groups, safetensors

hostile = "a\nmc-info: fine\t\r\x1b[2J\x7f\u2028\u202e\x85é"
shown = "a mc-info: fine   [2J ???é"
def message(call):
    try:
        call()
    except mcz.Error as e:
        assert str(e).isprintable() and pickle.loads(pickle.dumps(e)).names == e.names, e
        return str(e)
    assert False, "not refused"

assert str(mcz.Error(hostile)) == shown
os.mkdir(hostile)
for call in (lambda: safetensors.read(hostile), lambda: groups.rows([(hostile, 0, 0, 2, 1, hostile)], {}),
             lambda: mcz.write("x.mcz", "mine", {hostile: {1}}, {}), lambda: mcz.history(hostile, {hostile: None})):
    assert shown in message(call), message(call)
with open("m.safetensors.index.json", "w") as f:
    json.dump({"weight_map": {hostile: hostile + ".bin"}}, f)
assert shown in message(lambda: safetensors.read("m.safetensors.index.json"))
open(hostile + "/x", "w").close()
assert shown + "/x: is empty" in message(lambda: mcz.read(hostile + "/x"))

# a list of problems: each is one line, and a place is added to the first
try:
    with errors.inside(hostile):
        raise mcz.Error("2 problems:", ["x"], [hostile, "second"])
except mcz.Error as e:
    assert str(e).split("\n  ") == [shown + ": 2 problems:", shown, "second"] and e.names == ["x"], e
    assert str(pickle.loads(pickle.dumps(e))).isprintable()
END
