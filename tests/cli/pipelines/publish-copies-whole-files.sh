# SPDX-License-Identifier: Apache-2.0
# publish make copies whole files: killed while it copies, the same command again completes every file. Unchanged copies keep their time, so that
# makes with FROM copy nothing again.
publish=$MC_ROOT/pipelines/paper/publish
graph connect PAIRS='1:2 1:3' NET=mlp:4
echo 'epochs=2' >out/length
"$publish" keep out kept

# a cp that writes a part of file number $killed and kills its caller
mkdir bin
cat >bin/cp <<'END'
#!/bin/bash
echo >>"$TMP/copies"
[ "$(wc -l <"$TMP/copies")" = "$killed" ] || exec /bin/cp "$@"
from=${*: -2:1} to=${*: -1}
head -c 100 "$from" >"$to"
kill -9 $PPID
END
chmod +x bin/cp
for killed in 1 4 7 8; do
    export killed
    rm -rf copies made
    rc=0
    PATH=$PWD/bin:$PATH "$publish" make kept made 2>/dev/null || rc=$?
    [ $rc = 137 ] || die "copy $killed: status $rc"
    "$publish" make kept made
    for f in net-{1,2,3}.{mcz,log.json} 1-{2,3}/permutation.mcz; do same kept/$f made/$f; done
    for f in 1-{2,3}/curve-{un,}aligned.log.json; do same out/$f made/$f; done
    for f in 1-{2,3}/curve-{un,}aligned.mcz; do same_content out/$f made/$f; done
done
before=$(files_here)
"$publish" make kept made
[ "$(files_here | grep -v '\.lock ')" = "$(grep -v '\.lock ' <<<"$before")" ] || die 'unchanged files were written again'
# other networks under the same names
cp -p made/net-1.mcz made/net-2.mcz
"$publish" make kept made
same kept/net-2.mcz made/net-2.mcz

# a pair with one curve; a network and a curve without a log
rm out/1-3/curve-unaligned.{mcz,log.json} out/1-3/curve-aligned.log.json out/net-3.log.json
"$publish" keep out one
"$publish" make one back
same_content out/1-3/curve-aligned.mcz back/1-3/curve-aligned.mcz
# a pair without curves keeps its permutation
rm out/1-2/curve-*.mcz
"$publish" keep out none
same out/1-2/permutation.mcz none/1-2/permutation.mcz
for f in net-3.log.json 1-3/curve-{unaligned.mcz,aligned.log.json}; do [ ! -e back/$f ] || die "$f appeared"; done
