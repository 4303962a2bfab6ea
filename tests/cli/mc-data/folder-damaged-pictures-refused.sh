# SPDX-License-Identifier: Apache-2.0
# mc-data folder refuses damaged pictures and decompression bombs, and keeps the old output.
pictures=$MC_ROOT/tests/pictures
mkdir -p split/train/a split/train/b
for c in a b; do cp "$pictures/rgb.jpg" split/train/$c/x.jpg; done
mc-data folder split -o old.mcz
bad() { # TEXT: split/train/a/y.jpg, just made, is refused with it
    mc_data_fails 3 "split/train/a/y.jpg: $1" folder split --size 16
}
jpeg=$pictures/rgb.jpg bytes=$(stat -c %s "$pictures/rgb.jpg") out=split/train/a/y.jpg
for cut in 1 2 3 20 $((bytes / 2)) $((bytes - 40)) $((bytes - 2)); do
    head -c $cut "$jpeg" >$out; bad ""
done
head -c $((bytes / 2)) "$jpeg" >$out; bad "damaged: Premature end of JPEG file"
# two changed bytes put a restart marker within the data
cp "$jpeg" $out && printf '\377\322' | dd of=$out bs=1 seek=$((bytes - 60)) conv=notrunc status=none
bad "damaged: "
# a bit in the length of the tables
cp "$jpeg" $out && printf '\220' | dd of=$out bs=1 seek=22 conv=notrunc status=none; bad "damaged: "
cp "$pictures/rgb.png" $out && printf 'x' | dd of=$out bs=1 seek=60 conv=notrunc status=none; bad "damaged: "
head -c 80 "$pictures/rgb.png" >$out; bad "damaged: the PNG is truncated"
: >$out; bad "neither a JPEG nor a PNG file"
head -c 3000 /dev/zero >$out; bad "neither a JPEG nor a PNG file"
truncate -s 3G $out; bad "the file must be at most 64 MiB"
rm $out && mkfifo $out; bad "not a regular file"
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
    cp $kind.png $out; bad "a picture of "
done
cp short.png $out; bad "the file is too small for a picture of 8000 x 4000"
cp promise.png $out; bad "damaged: "
rm $out
