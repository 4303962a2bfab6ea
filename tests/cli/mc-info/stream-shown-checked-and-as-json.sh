# SPDX-License-Identifier: Apache-2.0
# mc-info shows a stream, checks it in one line, and prints valid JSON; another encoding has the same id.
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
expect_equal "$(mc-info --check "$good")" "$good: ok, kind test, id $id, 7 records"
expect_equal "$(mc-info --check <"$good")" "stdin: ok, kind test, id $id, 7 records"
expect_equal "$(cat "$good" | mc-info --check -)" "stdin: ok, kind test, id $id, 7 records"
expect_equal "$(mc-info --check -q "$good")" ""
mc-info "$good" >shown
grep -q "^id $id, 8 tensors, 7 records, " shown
grep -q 't 1 seed=1 rate=0.5  from 1$' shown
grep -q '^  bfloat16  2  *bfloat16$' shown
# another encoding of the same content has the same id
mc-info --check "$samples/good-blocks.mcz" | grep -q "id $id,"
