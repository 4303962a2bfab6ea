# SPDX-License-Identifier: Apache-2.0
# Only one program writes a log at a time; it appends whole lines, and removes a partial line after a full disk.
fixture logs

cp whole.json log.json
cp log.json kept.json
fails 1 "another program*writing*log 'log.json'" flock log.json mc-train -q --net mlp:8 --data d.mcz \
    --epochs 1 --log-json log.json -o no.mcz
same kept.json log.json
[ ! -e no.mcz ] || die "wrote no.mcz"

# lines are appended after those of other writers
train_logged --epochs 300 --log-json both.json -o out.mcz &
until grep -q '}$' both.json 2>/dev/null; do sleep .01; done
kill -STOP $! 2>/dev/null || true
echo '{"event":"note"}' >>both.json
kill -CONT $! 2>/dev/null || true
wait $!
[ "$(epochs both.json)" = "$(seq 300 | tr '\n' ' ')" ] || die "epochs $(epochs both.json)"
grep -qx '{"event":"note"}' both.json || die "the note is missing"

# a line cut by a full disk is removed
rc=0
(ulimit -f 1 && train_logged --epochs 30 --log-json cut.json -o /dev/null) 2>err || rc=$?
# a build with coverage also reports that its counters are truncated
[ "$rc $(grep -v '^libgcov ' err)" = "1 mc-train: cannot write 'cut.json': File too large" ] || die "$rc $(cat err)"
[ -z "$(tail -c 1 cut.json)" ] || die "a partial line: $(tail -n 1 cut.json)"
grep -q '"epoch":2,' cut.json || die "$(cat cut.json)"
