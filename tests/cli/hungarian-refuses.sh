# SPDX-License-Identifier: Apache-2.0
# mc-hungarian: bad options, damaged input, a failing upstream, a full disk: one line, the right
# status, no output.
. "$MC_ROOT/tests/cli/lib.bash"
/usr/bin/python3 "$MC_ROOT/tests/cli/hungarian.py" make m.mcz

rc=0
mc-hungarian --nonsense m.mcz >out 2>err || rc=$?
[ $rc = 2 ] && grep -qF "'--nonsense'" err && ! [ -s out ]
fails 2 "mc-hungarian: --threads: " mc-hungarian -t none m.mcz
fails 2 "mc-hungarian: takes one matrices stream, 2 are given" mc-hungarian m.mcz m.mcz
fails 1 "mc-hungarian: cannot open 'nothing.mcz': No such file or directory" mc-hungarian nothing.mcz
fails 3 "mc-hungarian: $MC_ROOT/formats/samples/good-stream.mcz: is a test stream, not matrices" \
    mc-hungarian "$MC_ROOT/formats/samples/good-stream.mcz"

# truncated anywhere, appended to: nothing at -o, the old file as it was
echo old >p.mcz
size=$(stat -c %s m.mcz)
for at in 0 3 100 $((size / 2)) $((size - 4)) $((size - 1)); do
    head -c "$at" m.mcz >cut.mcz
    fails 3 "mc-hungarian: cut.mcz: " mc-hungarian cut.mcz -o p.mcz
    fails 3 "mc-hungarian: stdin: " mc-hungarian -o p.mcz - <cut.mcz
done
{ cat m.mcz; printf x; } >long.mcz
fails 3 "mc-hungarian: long.mcz: " mc-hungarian long.mcz -o p.mcz
[ "$(cat p.mcz)" = old ] && [ -z "$(find . -name '.*mcz*')" ]

# a stage that fails above ends this one and all below it
rc=0
{ head -c $((size / 2)) m.mcz; exit 1; } | mc-hungarian 2>err | mc-info --check - >out 2>err2 || rc=$?
[ $rc = 3 ] && [ "$(wc -l <err)" = 1 ] && [ "$(wc -l <err2)" = 1 ] && ! [ -s out ]

fails 1 "mc-hungarian: " mc-hungarian -q m.mcz -o /dev/full
rc=0
mc-hungarian -q m.mcz >/dev/full 2>err || rc=$?
[ $rc = 1 ] && [ "$(wc -l <err)" = 1 ]
fails 1 "mc-hungarian: cannot write" mc-hungarian -q m.mcz -o nowhere/p.mcz
