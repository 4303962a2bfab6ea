# SPDX-License-Identifier: Apache-2.0
# A permuted network may replace itself, and outputs may be /dev/null; a log that would overwrite other output is refused.
samples=$MC_ROOT/formats/samples
cp "$samples/good-dataset.mcz" d.mcz
cp "$samples/good-weights.mcz" w.mcz
cp "$samples/good-permutation.mcz" p.mcz
train="mc-train -q --no-augment --net mlp:8 --epochs 1 --data d.mcz"
# harmless: a permuted network replaces itself, and several outputs are /dev/null
mc-permute p.mcz w.mcz -o "$TMP/pw.mcz"
cp p.mcz inverse.mcz
usage_error "--output*input*same file 'inverse.mcz'" mc-permute --inverse inverse.mcz -o inverse.mcz
usage_error "--output*input*same file 'inverse.mcz'" mc-permute --compose p.mcz inverse.mcz -o inverse.mcz
mc-permute --inverse p.mcz -o inverse.mcz
mc-permute p.mcz w.mcz -o w.mcz
same "$TMP/pw.mcz" w.mcz
mc-permute inverse.mcz w.mcz -o w.mcz
same_content w.mcz "$samples/good-weights.mcz"
$train --log-json /dev/null -o /dev/null
$train --log-json /dev/stderr -o x.mcz 2>&1 | cat >log
grep -q '"event":"epoch"' log || die "no log: $(cat log)"
# harmful: standard error, a pipe that carries the result, a user's text file
echo old >log
$train --log-json /dev/stderr -o x.mcz 2>>log && die 'the log wrote over the messages'
[ "$(head -n 1 log)" = old ] && grep -q 'standard error are the same file' log || die "$(cat log)"
$train --log-json /dev/stdout 2>errors | cat >y.mcz
[ "${PIPESTATUS[0]}" = 2 ] || die 'the log is in the result'
expect_words errors '--log-json*standard output*same file'
echo 'chapter one' >thesis.txt
usage_error "--log-json: 'thesis.txt' exists*not a log" $train --log-json thesis.txt -o x.mcz
echo '{"layers": []}' >net.json
usage_error "--log-json: 'net.json' exists*not a log" $train --log-json net.json -o x.mcz
echo '{"event":"epoch"}' >all.jsonl
(usage_error "--log-json*standard output*same file" $train --log-json /dev/stdout -o x.mcz) >>all.jsonl
[ "$(cat all.jsonl)" = '{"event":"epoch"}' ] || die "$(cat all.jsonl)"
fails 2 "--checkpoint must*file" $train --checkpoint - -o x.mcz
fails 2 "--checkpoint must*file" mc-eval -q --data d.mcz --plane --grid 2 --checkpoint - w.mcz w.mcz w.mcz -o x.tsv
rm log
$train --log-json log | cat >y.mcz
same x.mcz y.mcz
