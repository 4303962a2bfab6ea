# SPDX-License-Identifier: Apache-2.0
# A full disk leaves the old file unchanged and no temporary file. mc-plot does not need the disk of temporary files.
# Skipped without permission to mount a file system.
data=$MC_ROOT/formats/samples/good-dataset.mcz
unshare -rm true 2>/dev/null || exit 77

cat >full.sh <<'END'
mkdir disk
mount -t tmpfs -o size=256k tmpfs disk || exit 77
head -c 100 /dev/zero >disk/a.mcz
"$@" -o disk/a.mcz 2>err && exit 1
grep -qx "mc-train: cannot write 'disk/a.mcz': No space left on device" err || { cat err; exit 1; }
[ "$(ls -A disk)" = a.mcz ] || { ls -A disk; exit 1; }
head -c 100 /dev/zero | cmp - disk/a.mcz

printf 't\ttest.loss\ttest.accuracy\n0\t1\t50\n.5\t2\t40\n1\t1\t50\n' >a.tsv
for format in svg png pdf; do
    mc-plot path a.tsv -o whole.$format
    echo old >disk/x.$format
done
head -c 300k /dev/zero >disk/filler 2>err
for format in svg png pdf; do
    mc-plot path a.tsv -o disk/x.$format 2>err && exit 1
    grep -qx "mc-plot: cannot write 'disk/x.$format': No space left on device" err || { cat err; exit 1; }
    [ "$(cat disk/x.$format)" = old ] || exit 1
done
[ "$(ls -A disk | wc -l)" = 5 ] || { ls -A disk; exit 1; }
# this folder and the programs may be in /tmp
mount --bind "$MC_BUILD" /mnt || exit 77
PATH=/mnt/bin:$PATH
mount -t tmpfs -o size=8k tmpfs /tmp || exit 77
for format in svg png pdf; do
    TMPDIR=/tmp mc-plot path a.tsv -o x.$format || exit 1
    cmp x.$format whole.$format || exit 1
done
END
exec unshare -rm bash full.sh mc-train -q --data "$data" --no-augment --net mlp:20000 --epochs 1 # 0.5 MB
