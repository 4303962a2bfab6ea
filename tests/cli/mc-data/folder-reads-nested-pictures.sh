# SPDX-License-Identifier: Apache-2.0
# mc-data folder also reads pictures in folders within a class's folder, in the order of torchvision's ImageFolder.
py <<'PY'
import struct, zlib
r = np.random.default_rng(2)
def png(path, rgb):
    chunk = lambda name, b: struct.pack(">I", len(b)) + name + b + struct.pack(">I", zlib.crc32(name + b))
    h, w, _ = rgb.shape
    rows = b"".join(b"\0" + row.tobytes() for row in rgb)
    open(path, "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, 8, 2, 0, 0, 0)) +
                           chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
names = ["a/2.png", "a/sub/1.png", "a/sub-2/0.png", "a/sub/deep/er/9.png", "a/10.PNG", "a/sub/B.png", "b/only/x.png", "b/z/y.png"]
images = {}
for n in names:
    os.makedirs("d/" + os.path.dirname(n), exist_ok=True)
    images["d/" + n] = r.integers(0, 256, (7, 5, 3), dtype=np.uint8)
    png("d/" + n, images["d/" + n])
np.savez("images", **images)
os.makedirs("d/a/empty")
PY
mc-data folder d --no-shuffle -o d.mcz 2>notes
expect_equal "$(<notes)" ''
py <<'PY' || die 'not the samples of ImageFolder'
images = np.load("images.npz")
samples = []  # the order of torchvision's make_dataset
for label, c in enumerate(sorted(e.name for e in os.scandir("d") if e.is_dir())):
    for root, _, files in sorted(os.walk("d/" + c, followlinks=True)):
        samples += [(os.path.join(root, f), label) for f in sorted(files)]
d = mcz.read("d.mcz")
assert len(samples) == 8 and list(d.tensors["labels"]) == [l for _, l in samples] == [0] * 6 + [1] * 2
for image, (path, _) in zip(d.tensors["images"], samples):
    assert (image == images[path].transpose(2, 0, 1)).all(), path
PY
# links to folders are followed; a folder that occurs twice, or within itself, is refused: its pictures would repeat
mkdir apart && cp d/a/2.png apart/new.png
ln -s ../../apart d/b/linked
mc-data folder d -o linked.mcz
expect_equal "$(mc-info --json linked.mcz | grep -o '"labels","dtype":"int32","shape":\[9\]')" '"labels","dtype":"int32","shape":[9]'
cp linked.mcz old.mcz
ln -s only d/b/again
mc_data_fails 3 "d/b/only:*same folder*d/b/again" folder d
rm d/b/again
ln -s .. d/a/sub/up
mc_data_fails 3 "d/a/sub/up:*same folder*d/a" folder d
rm d/a/sub/up
# other formats are refused there too
cp d/a/2.png d/a/sub/deep/3.webp
mc_data_fails 3 "d/a/sub/deep/3.webp:*JPEG*PNG files*supported" folder d
