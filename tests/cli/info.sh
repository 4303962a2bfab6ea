# SPDX-License-Identifier: Apache-2.0
# mc-info shows a stream, checks it in one line, prints JSON that others can parse, and has the
# statuses and messages of every program.
. "$MC_ROOT/tests/cli/lib.bash"
samples=$MC_ROOT/formats/samples
good=$samples/good-stream.mcz
id=$(mc-info --json "$good" | /usr/bin/python3 -c '
import json, sys
o = json.loads(sys.stdin.readline())
assert o["kind"] == "test" and o["records"] == 7 and len(o["tensors"]) == 8, o
assert o["history"][1]["args"] == [["seed", 1], ["rate", 0.5]], o
assert o["meta"]["numbers"] == [0, -1, 1 << 63, 0.5] and o["meta"]["text"] == "\u00e9", o
assert o["tensors"][5] == {"name": "int32", "dtype": "int32", "shape": []}, o
print(o["id"])')
[ "$(mc-info --check "$good")" = "$good: ok, kind test, id $id, 7 records" ]
[ "$(mc-info --check <"$good")" = "stdin: ok, kind test, id $id, 7 records" ]
[ "$(cat "$good" | mc-info --check -)" = "stdin: ok, kind test, id $id, 7 records" ]
[ -z "$(mc-info --check -q "$good")" ]
mc-info "$good" >shown
grep -q "^id $id, 8 tensors, 7 records, " shown
grep -q 't 1 seed=1 rate=0.5  from 1$' shown
grep -q '^  bfloat16  2  *bfloat16$' shown
# another encoding of the same content has the same id
mc-info --check "$samples/good-blocks.mcz" | grep -q "id $id,"

# numbers as they were written; control characters, also those beyond ASCII, reach no terminal; one is one
/usr/bin/python3 - "$MC_ROOT" <<'END'
import sys
import numpy as np
sys.path.insert(0, sys.argv[1] + "/formats/python")
import mcz
mcz.write("odd.mcz", "test", {"rate": 0.1, "text": "a\u009b2Jb\x7fc\u00e9", "one": [{"k": 1}]}, {"t": np.zeros(1)})
END
mc-info odd.mcz >shown
grep -qx '  rate            0\.1' shown
grep -qx '  text            a 2Jb cé' shown
grep -q ', 1 tensor, 1 record, [0-9]* bytes$' shown
grep -q '(1 item; -v shows them)' shown
mc-info --check odd.mcz | grep -q ', 1 record$'
mc-info --json odd.mcz >shown
grep -qF '"rate":0.1,' shown
grep -qF '"a\u009b2Jb\u007fcé"' shown

head -c 300 "$good" >cut.mcz
fails 3 "mc-info: cut.mcz: header: truncated" mc-info cut.mcz
fails 3 "mc-info: cut.mcz: header: truncated" mc-info --json cut.mcz
fails 3 "mc-info: stdin: is empty, not an mcz stream" mc-info
fails 1 "mc-info: cannot open 'nothing.mcz': No such file or directory" mc-info nothing.mcz
fails 1 "mc-info: .: cannot read: Is a directory" mc-info .
rc=0
mc-info --nonsense >out 2>err || rc=$?
[ $rc = 2 ] && grep -qF "'--nonsense'" err && ! [ -s out ]
# all files are looked at; the sound ones are told, the others lead to the status
rc=0
mc-info --check cut.mcz "$good" cut.mcz >out 2>err || rc=$?
[ $rc = 3 ] && [ "$(wc -l <out)" = 1 ] && [ "$(wc -l <err)" = 2 ]
# a full disk
rc=0
mc-info "$good" >/dev/full 2>err || rc=$?
[ $rc = 1 ] && [ "$(wc -l <err)" = 1 ]
mc-info --help | head -n 4 | grep -q 'mc-info'
mc-info --version | grep -q 'stream format 1'
