# SPDX-License-Identifier: Apache-2.0
# A disk that is full leaves the old file as it was and nothing beside it. Skipped where a file system of
# one's own is not allowed.
. "$MC_ROOT/tests/cli/lib.bash"
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
END
exec unshare -rm bash full.sh mc-train -q --data "$data" --no-augment --net mlp:20000 --epochs 1 # 0.5 MB
