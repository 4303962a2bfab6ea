# SPDX-License-Identifier: Apache-2.0
# connect.mk makes the data again if a file that mc-data reads has changed, and rebuilds what depends on them if their content
# differs. Other files in DATA_DIR do not count.
PATH=$MC_BUILD/bin:$PATH
mkdir 'my data'
set -- connect DATA=idx DATA_DIR="$PWD/my data" TRAIN_IMAGES=60 TEST_IMAGES=20 NET=mlp:4
all='mc-acts1 mc-bezier4 mc-corr2 mc-data2 mc-eval4 mc-hungarian1 mc-permute1 mc-plot12 mc-train2 '
# digits SEED FILE: random pictures as mc-data idx reads them
digits() {
    py "$@" <<'END'
seed, name, n = int(sys.argv[1]), sys.argv[2], {"train": 80, "t10k": 30}[sys.argv[2]]
r = np.random.default_rng(seed)
for kind, magic, shape in ("images-idx3", 2051, (n, 8, 8)), ("labels-idx1", 2049, (n,)):
    x = r.integers(0, 255 if len(shape) > 1 else 3, shape, dtype=np.uint8)
    with open(f"my data/{name}-{kind}-ubyte", "wb") as f:
        f.write(np.array([magic, *shape], ">i4").tobytes() + x.tobytes())
END
}
digits 1 train
digits 2 t10k
expect_programs "$all" "$@"
touch 'my data'/*
echo >'my data/notes'
expect_programs '' "$@"
# the training images only: the data of the test keep their content and their time
digits 3 train
graph "$@" -n
grep -q '^mc-train' log || die 'a dry run does not see the file'
cp -a out before
! (graph "$@") >refused || die 'other images discard the networks'
expect_words errors 'out/train.mcz*other images*CHANGE=yes'
grep -q '^train-data was made with DATA_FILES=' errors || die "$(cat errors)"
for f in train net-1 1-2/curve-aligned; do same before/$f.mcz out/$f.mcz; done
expect_programs "$all" "$@" CHANGE=yes
mc-data idx 'my data' --samples 60 -q -o now.mcz
same_content now.mcz out/train.mcz
[ out/1-2/moments.mcz -nt out/train.mcz ] && [ out/train.mcz -nt out/test.mcz ] || die 'test.mcz is new'
digits 4 t10k
expect_programs 'mc-data2 mc-eval4 mc-plot4 ' "$@"
expect_programs '' "$@"
# the same files in another folder
mv 'my data' moved
set -- "$@" DATA_DIR="$PWD/moved"
expect_programs 'mc-data2 ' "$@"
expect_programs '' "$@"

# pictures count by name, size and time
py <<'END'
import zlib, struct
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
for split, n in ("train", 8), ("test", 4):
    for c in "ab":
        os.makedirs(f"pictures/{split}/{c}")
        for i in range(n):
            pixels = np.random.default_rng([i, ord(c)]).integers(0, 255, (8, 8, 3), dtype=np.uint8)
            rows = b"".join(b"\0" + row.tobytes() for row in pixels)
            open(f"pictures/{split}/{c}/{i}.png", "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(
                ">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
END
set -- connect DATA=folder DATA_DIR=pictures OUT=pictures/out TRAIN_IMAGES= TEST_IMAGES= NET=mlp:4 EPOCHS=0
expect_programs 'mc-data1 mc-train1 ' "$@" pictures/out/net-1.mcz
expect_programs '' "$@" pictures/out/net-1.mcz
touch pictures/train/a/0.png
expect_programs 'mc-data1 ' "$@" pictures/out/net-1.mcz
cp pictures/train/b/0.png pictures/train/a/0.png
expect_programs 'mc-data1 mc-train1 ' "$@" CHANGE=yes pictures/out/net-1.mcz

# made-up images need no files
DATA=synth DATA_DIR=pictures "$MC_ROOT/pipelines/include/data-files" | same - /dev/null
