# SPDX-License-Identifier: Apache-2.0
# mc-data npz refuses wrong images and labels in one line, and keeps the old output.
py <<'PY'
x, y = np.zeros((20, 3, 8, 8), np.uint8), np.arange(20) % 4
f = np.full((20, 8, 8), .5, np.float32)
bad = {
    "names": dict(a=x, b=y), "half": dict(x_train=x, y_train=y), "open": dict(x=x[:, :, :, :3], y=y),
    "channels": dict(x=np.zeros((20, 8, 8, 8), np.uint8), y=y), "flat": dict(x=x.reshape(20, -1), y=y),
    "int": dict(x=x.astype(int), y=y), "many": dict(x=x, y=y[:19]), "onehot": dict(x=x, y=np.eye(4)[y]),
    "matrix": dict(x=x, y=np.eye(4, dtype=int)[y]), "negative": dict(x=x, y=y - 1), "over": dict(x=f * 255, y=y),
    "under": dict(x=f - 1, y=y), "nan": dict(x=f * np.nan, y=y),
    "none": dict(x=x[:0], y=y[:0]), "thin": dict(x=f[:, :0], y=y), "large": dict(x=x, y=y + 70000),
}
for name, arrays in bad.items():
    np.savez(name, **arrays)
np.savez("good", x=x, y=y)
np.savez("positions", x, y)
PY
mc-data synth --samples 20 -o old.mcz
refuses() { mc_data_fails 3 "$1" npz "${@:2}"; }
refuses "names.npz: no arrays*train split*train_images*train_labels*--arrays IMAGES,LABELS*file*a, b" names.npz
refuses "no arrays*test split*test_images*test_labels*--arrays IMAGES,LABELS*file*x_train, y_train" half.npz --split test
# arrays without a split in their name belong to train
refuses "good.npz: no arrays*test split*test_images*test_labels*--arrays IMAGES,LABELS*file*x, y" good.npz --split test
refuses "positions.npz: no arrays*test split*test_images*test_labels*--arrays IMAGES,LABELS*file*arr_0, arr_1" positions.npz --split test
for arrays in a a,a; do refuses "names.npz: --arrays $arrays: two different arrays IMAGES,LABELS expected*file*a, b" names.npz --arrays $arrays; done
refuses 'names.npz: array "c"*missing*file*a, b' names.npz --arrays a,c
refuses 'names.npz: array "A"*missing*file*a, b' names.npz --arrays A,b
refuses 'open.npz: "x": images*3 x 8 x 3 may*C,H,W*H,W,C*--layout' open.npz
refuses "images*8 x 8 x 8*not have 1 to 4 channels" channels.npz
refuses "images*3 x 8 x 8*not have 1 to 4 channels*--layout" good.npz --layout nhwc
refuses "images*N,H,W*N,C,H,W*N,H,W,C (got 2 dimensions)" flat.npz
refuses "images*uint8*float*0 to 1 (got <i8)" int.npz
refuses '"y": 20 labels expected*got 19' many.npz
refuses "labels*uint8, int32 or int64 (got <f8)" onehot.npz
refuses "labels*one number per image, (N)*(N,1)" matrix.npz
refuses "image 0*label -1" negative.npz
refuses "image 0*label 70000*at most 65536 classes" large.npz
refuses "image 3*label 3 of 3 classes" good.npz --classes 3
refuses "image 0*pixel*127.5: uint8*floats*0 to 1 without normalisation" over.npz
refuses "image 0*pixel*-0.5" under.npz
refuses "image 0*pixel*nan" nan.npz
refuses "(got 0)" none.npz
refuses "(got 0 x 8)" thin.npz
mc_data_fails 1 "cannot open 'nowhere.npz'" npz nowhere.npz
refuses "/dev/null: not a regular file" /dev/null
mc_data_fails 2 "npz*read*standard input" npz -
head -c 3000 good.npz >cut.npz && refuses "cut.npz" cut.npz
py <<'PY'
whole = bytearray(open("good.npz", "rb").read())
whole[1000] ^= 1
open("changed.npz", "wb").write(whole)
PY
refuses "changed.npz" changed.npz
echo text >text.npz && refuses "text.npz: Not a zip archive" text.npz
