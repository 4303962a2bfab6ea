# SPDX-License-Identifier: Apache-2.0
# The Python package writes each number unchanged. Labels that int32 cannot hold, arrays for safetensors that are not of
# floating point, and arrays of another dtype than announced are refused, and nothing is written.
python=/usr/bin/python3
$python -c 'import msgpack, zstandard, xxhash, numpy' 2>/dev/null || exit 77
[ "${MC_UNDER:-}" != valgrind ] || exit 77
$python - <<'END'
import os
import mcz, mcz.data, numpy as np
from mcz import safetensors
from refusal import expect_error

images = np.arange(4 * 3 * 5 * 5, dtype="u1").reshape(4, 3, 5, 5)
def data(labels, classes=7, path="d.mcz"):
    mcz.data.write(path, images, labels, classes, [.5] * 3, [.25] * 3)
for labels, words in (
        (np.array([1, 2, 3, 2 ** 32 + 5]), "image 3 has label 4294967301 (labels are whole numbers from 0 to 6)"),
        (np.array([1, 2 ** 63, 3, 4], "u8"), "image 1 has label 9223372036854775808"),
        (np.array([6, 2.5, 3, 4]), "image 1 has label 2.5"), (np.array([0, 1, np.nan, 2]), "image 2 has label nan"),
        ([1, 2, 7, 3], "image 2 has label 7"), ([-1, 2, 3, 4], "image 0 has label -1"),
        (np.array([1j, 2, 3, 4]), "labels are whole numbers, not complex128"),
        ([True, False, True, True], "labels are whole numbers, not bool"),
        (["1", "2", "3", "4"], "labels are whole numbers, not <U1")):
    expect_error([words], lambda: data(labels))
expect_error(["classes is 6.5, not a whole number"], lambda: data([1, 2, 3, 4], 6.5))
expect_error(["pixels are uint8 or float32, not float64"], lambda: mcz.data.write(
    "d.mcz", images / 255, [1, 2, 3, 4], 7, [.5] * 3, [.25] * 3))
for shape, labels in ((4, 75), [1, 2, 3, 4]), ((4, 3, 5, 5), [1, 2, 3]), ((4, 3, 5, 5), [[1, 2, 3, 4]]):
    expect_error(["are not (N,C,H,W) and (N)"], lambda: mcz.data.write(
        "d.mcz", images.reshape(shape), labels, 7, [.5] * 3, [.25] * 3))
mcz.data.write("d.mcz", (images / 512).astype(">f4"), [1, 2, 3, 4], 7, [.5] * 3, [.25] * 3)
mcz.check("d.mcz")
os.remove("d.mcz")
assert os.listdir(".") == [], os.listdir(".")
for labels in [6, 0, 3, 1], np.array([6, 0, 3, 1], "u8"), np.array([6, 0, 3, 1], "i1"), np.array([6., 0, 3, 1]):
    data(labels)
    kept = mcz.read("d.mcz").tensors["labels"]
    assert kept.dtype == np.int32 and kept.tolist() == [6, 0, 3, 1]
os.remove("d.mcz")

# safetensors: floating point alone, in its own dtype
for a in np.array([1 + 2j]), np.array([2 ** 40]), np.array([True]), np.array([1, 2], "i1"), np.array(["x"]), [1, 2]:
    expect_error(["\"n\" is %s, not floating point" % np.asarray(a).dtype], lambda: safetensors.write("x.safetensors", {
        "w": np.ones(2, "f4"), "n": a}))
assert os.listdir(".") == [], os.listdir(".")
kept = {"half": np.array([6e-8, -65504, 1.5], "f2"), "double": np.array([[1e300, 1 / 3]]), "one": np.float32(.1),
        "swapped": np.array([1, 2.25], ">f4"), "none": np.zeros((0, 3), "f4"), "turned": np.ones((2, 3), "f4").T}
safetensors.write("x.safetensors", kept)
back = safetensors.read("x.safetensors")
assert list(back) == list(kept)
for k, v in kept.items():
    assert back[k].dtype.newbyteorder("=") == v.dtype.newbyteorder("=") and back[k].shape == v.shape and (back[k] == v).all(), k

# streams: an array is of the dtype that it is announced as
for announced, a in ("bfloat16", np.ones(2, "f4")), ("int32", np.array([1.7])), ("uint8", np.array([300])), (
        "float32", np.array([1e300])):
    expect_error(["tensor \"t\": an array of %s, not of " % a.dtype], lambda: mcz.write("y.mcz", "mine", {}, {"t": a}, dtypes={
        "t": announced}))
expect_error(["tensor \"t\": bool is none of"], lambda: mcz.write("y.mcz", "mine", {}, {"t": np.array([True])}))
assert not os.path.exists("y.mcz")
mcz.write("y.mcz", "mine", {}, {"t": np.array([0x3fc0], "u2"), "s": np.array([7], ">i4")}, dtypes={"t": "bfloat16"})
s = mcz.read("y.mcz")
assert s.dtypes["t"] == "bfloat16" and s.tensors["t"].tolist() == [0x3fc0] and s.tensors["s"].tolist() == [7]
END
