# SPDX-License-Identifier: Apache-2.0
# The Python package writes each number unchanged. It refuses labels that int32 cannot hold, safetensors of integers, and
# arrays of another dtype than announced; then it writes nothing. Settings may be NumPy's numbers.
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
        (np.array([1, 2, 3, 2 ** 32 + 5]), "label of image 3 must be an integer from 0 to 6 (got 4294967301)"),
        (np.array([1, 2 ** 63, 3, 4], "u8"), "image 1 must be an integer from 0 to 6 (got 9223372036854775808)"),
        (np.array([6, 2.5, 3, 4]), "image 1 must be an integer from 0 to 6 (got 2.5)"),
        (np.array([0, 1, np.nan, 2]), "image 2 must be an integer from 0 to 6 (got nan)"),
        ([1, 2, 7, 3], "image 2 must be an integer from 0 to 6 (got 7)"),
        ([-1, 2, 3, 4], "image 0 must be an integer from 0 to 6 (got -1)"),
        (np.array([1j, 2, 3, 4]), "labels must be integers (got complex128)"),
        ([True, False, True, True], "labels must be integers (got bool)"),
        (["1", "2", "3", "4"], "labels must be integers (got <U1)")):
    expect_error([words], lambda: data(labels))
expect_error(["classes*integer (got 6.5)"], lambda: data([1, 2, 3, 4], 6.5))
expect_error(["pixels*uint8 or float32 (got float64)"], lambda: mcz.data.write(
    "d.mcz", images / 255, [1, 2, 3, 4], 7, [.5] * 3, [.25] * 3))
for shape, labels in ((4, 75), [1, 2, 3, 4]), ((4, 3, 5, 5), [1, 2, 3]), ((4, 3, 5, 5), [[1, 2, 3, 4]]):
    expect_error(["images (N,C,H,W)*labels (N) expected*got "], lambda: mcz.data.write(
        "d.mcz", images.reshape(shape), labels, 7, [.5] * 3, [.25] * 3))
mcz.data.write("d.mcz", (images / 512).astype(">f4"), [1, 2, 3, 4], 7, [.5] * 3, [.25] * 3)
mcz.check("d.mcz")
os.remove("d.mcz")
assert os.listdir(".") == [], os.listdir(".")
for labels in [6, 0, 3, 1], np.array([6, 0, 3, 1], "u8"), np.array([6, 0, 3, 1], "i1"), np.array([6., 0, 3, 1]):
    data(labels)
    written = mcz.read("d.mcz").tensors["labels"]
    assert written.dtype == np.int32 and written.tolist() == [6, 0, 3, 1]
os.remove("d.mcz")

# safetensors: floating point only, with unchanged dtypes
for a in np.array([1 + 2j]), np.array([2 ** 40]), np.array([True]), np.array([1, 2], "i1"), np.array(["x"]), [1, 2]:
    expect_error(["\"n\"*%s, not floating point" % np.asarray(a).dtype], lambda: safetensors.write("x.safetensors", {
        "w": np.ones(2, "f4"), "n": a}))
assert os.listdir(".") == [], os.listdir(".")
arrays = {"half": np.array([6e-8, -65504, 1.5], "f2"), "double": np.array([[1e300, 1 / 3]]), "one": np.float32(.1),
          "swapped": np.array([1, 2.25], ">f4"), "none": np.zeros((0, 3), "f4"), "transposed": np.ones((2, 3), "f4").T}
safetensors.write("x.safetensors", arrays)
back = safetensors.read("x.safetensors")
assert list(back) == list(arrays)
for k, v in arrays.items():
    assert back[k].dtype.newbyteorder("=") == v.dtype.newbyteorder("=") and back[k].shape == v.shape and (back[k] == v).all(), k

# streams: an array must have the declared dtype
for announced, a in ("bfloat16", np.ones(2, "f4")), ("int32", np.array([1.7])), ("uint8", np.array([300])), (
        "float32", np.array([1e300])):
    expect_error(["tensor \"t\":*array*%s, not of " % a.dtype], lambda: mcz.write("y.mcz", "mine", {}, {"t": a}, dtypes={
        "t": announced}))
expect_error(["tensor \"t\": bool*none"], lambda: mcz.write("y.mcz", "mine", {}, {"t": np.array([True])}))
assert not os.path.exists("y.mcz")
mcz.write("y.mcz", "mine", {}, {"t": np.array([0x3fc0], "u2"), "s": np.array([7], ">i4")}, dtypes={"t": "bfloat16"})
s = mcz.read("y.mcz")
assert s.dtypes["t"] == "bfloat16" and s.tensors["t"].tolist() == [0x3fc0] and s.tensors["s"].tolist() == [7]
os.remove("y.mcz")

# settings and arguments: NumPy's numbers, booleans and strings are written as Python's, with the same content id
plain = {"i": 3, "f": .5, "b": True, "s": "x", "list": [1, {"n": 2.25}], "none": None, "bytes": b"x"}
scalars = {"i": np.int16(3), "f": np.float16(.5), "b": np.bool_(True), "s": np.str_("x"),
           "list": (np.uint64(1), {np.str_("n"): np.longdouble(2.25)}), "none": None, "bytes": np.bytes_(b"x")}
args = [{k: m[k] for k in "ifbs"} for m in (plain, scalars)]
ids = [mcz.write("%d.mcz" % i, "mine", m, {"t": np.ones(2, "i4")}, history=mcz.history("me", a))
       for i, (m, a) in enumerate(zip((plain, scalars), args))]
read = [mcz.read("%d.mcz" % i) for i in range(2)]
assert ids[0] == ids[1] and read[0].meta == read[1].meta == plain and read[0].history == read[1].history
assert mcz.history("me", args[1]) == mcz.history("me", args[0])
files = os.listdir(".")
for value, words in ((1j, "got complex"), ({1}, "got set"), (np.datetime64("2020"), "got datetime64"), (np.ones(2), "got ndarray"),
                     (1 << 64, "less than 2^64"), ("\ud800", "is not Unicode text"), ("a\0", "NUL"), ({1: 2}, "a key must be a string (got 1)")):
    expect_error([words], lambda: mcz.write("y.mcz", "mine", {"good": 1, "key": {"list": [value]}}, {}))
    if words != "NUL":
        expect_error(["header: \"meta\": \"key\": \"list\": "], lambda: mcz.write("y.mcz", "mine", {"key": {"list": [value]}}, {}))
        expect_error(["\"lr\": "], lambda: mcz.history("me", {"seed": 1, "lr": value}))
expect_error(["\"lr\":*string, number*boolean expected*list"], lambda: mcz.history("me", {"lr": [1]}))
for inputs in [3], ["x"], [None], [ids[0].upper()]:
    expect_error(["\"inputs\"*not a list*content ids"], lambda: mcz.write("y.mcz", "mine", {}, {}, inputs=inputs))
assert os.listdir(".") == files, os.listdir(".")
END
