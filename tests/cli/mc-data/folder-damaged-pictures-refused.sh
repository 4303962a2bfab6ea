# SPDX-License-Identifier: Apache-2.0
# mc-data folder refuses damaged pictures and decompression bombs, and keeps the old output.
pictures=$MC_ROOT/tests/pictures
mkdir -p split/train/a split/train/b
for c in a b; do cp "$pictures/rgb.jpg" split/train/$c/x.jpg; done
mc-data folder split -o old.mcz
refuses() { # TEXT: split/train/a/y.jpg, just made, is refused with it
    mc_data_fails 3 "split/train/a/y.jpg: *$1" folder split --size 16
}
jpeg=$pictures/rgb.jpg bytes=$(stat -c %s "$pictures/rgb.jpg") out=split/train/a/y.jpg
for cut in 1 2 3 20 $((bytes / 2)) $((bytes - 40)) $((bytes - 2)); do
    head -c $cut "$jpeg" >$out; refuses ""
done
head -c $((bytes / 2)) "$jpeg" >$out; refuses "damaged: Premature end*JPEG file"
# two changed bytes put a restart marker within the data
cp "$jpeg" $out && printf '\377\322' | dd of=$out bs=1 seek=$((bytes - 60)) conv=notrunc status=none
refuses "damaged: "
# a bit in the length of the tables
cp "$jpeg" $out && printf '\220' | dd of=$out bs=1 seek=22 conv=notrunc status=none; refuses "damaged: "
cp "$pictures/rgb.png" $out && printf 'x' | dd of=$out bs=1 seek=60 conv=notrunc status=none; refuses "damaged: "
head -c 80 "$pictures/rgb.png" >$out; refuses "damaged:*PNG*truncated"
: >$out; refuses "neither*JPEG nor*PNG file"
head -c 3000 /dev/zero >$out; refuses "neither*JPEG nor*PNG file"
truncate -s 3G $out; refuses "file*at most 64 MiB"
rm $out && mkfifo $out; refuses "not a regular file"
# bombs: a few bytes that announce much, and 40 KB that decompress to what they announce
py <<'PY'
import struct, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
def png(name, w, h, data):
    with open(name, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, 8, 2, 0, 0, 0))
                + chunk(b"IDAT", data) + chunk(b"IEND", b""))
c = zlib.compressobj(9)
zeros = c.compress(bytes(20000 * 60001 // 30)) + c.flush()
png("wide.png", 20000, 2000, zeros)
png("square.png", 8192, 8192, zeros)
png("short.png", 8000, 4000, zeros[:100])
png("promise.png", 2**31 - 1, 2**31 - 1, zeros)
PY
rm $out
for kind in wide square; do
    cp $kind.png $out; refuses "a picture of "
done
cp short.png $out; refuses "file*too small*picture*8000 x 4000"
cp promise.png $out; refuses "damaged: "
rm $out
