# SPDX-License-Identifier: Apache-2.0
# -o follows symbolic links as a shell's > does; a name of an open descriptor writes to it, and >> appends.
samples=$MC_ROOT/formats/samples
identity="mc-permute --identity $samples/good-weights.mcz"
$identity -o want.mcz

# a dangling link: its target is created, and the link stays
mkdir far
ln -s ../new.mcz far/link
ln -s far/link first
$identity -o first
same new.mcz want.mcz
[ -L first ] && [ -L far/link ] || die 'a link was replaced'
# the target is replaced in its own folder, not in the link's
echo old >new.mcz
$identity -o first
same new.mcz want.mcz
[ "$(ls far)" = link ] || die "$(ls -A far)"
ln -s none/x nowhere
fails_unchanged 1 "write*'nowhere': No such file" $identity -o nowhere
ln -s ring ring
fails_unchanged 1 "write*'ring': Too many levels*symbolic links" $identity -o ring
usage_error 'same file' mc-train -q --net mlp:3 --data "$samples/good-dataset.mcz" --checkpoint first -o new.mcz

# open descriptors
table="mc-corr --signature $samples/good-moments.mcz"
{ echo old && $table; } >want
for name in stdout fd/1 fd/3; do
    echo old >got
    $table -o /dev/$name >>got 3>&1
    same got want
    echo older than what comes >got
    $table -o /dev/$name >got 3>&1
    expect_equal "$(<got)" "$(tail -n +2 want)"
done
ln -s /dev/stdout link
echo old >got
$table -o link >>got
same got want
$table -o /dev/stdout | cat >got
expect_equal "$(<got)" "$(tail -n +2 want)"
(usage_error 'one output*standard output' mc-permute "$samples/good-permutation.mcz" "$samples/good-weights.mcz" \
    --perm-out /dev/stdout) >>got
rc=0
$table -o /dev/fd/9 2>err 9>&- || rc=$?
expect_equal "$rc $(<err)" "1 mc-corr: cannot write '/dev/fd/9': Bad file descriptor"
no_temporaries
# before any file is opened, which could get this number, and before any computation
train=(mc-train -q --net mlp:3 --data "$samples/good-dataset.mcz" --log-json log.json)
fails_unchanged 1 "write*'/dev/fd/3': Bad file descriptor" "${train[@]}" -o /dev/fd/3 3>&-
fails_unchanged 1 "write*'/dev/fd/3': Bad file descriptor" "${train[@]}" -o /dev/fd/3 3<got
