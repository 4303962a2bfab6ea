# SPDX-License-Identifier: Apache-2.0
# Python accepts the streams that C accepts, and refuses others with the same messages: mcz.read the bad samples, and
# independent_reader.py the invalid contents and graphs of the unit tests. mcz.check reports the errors of mc-info --check.
python=/usr/bin/python3
$python -c 'import msgpack, zstandard, xxhash, numpy' 2>/dev/null || exit 77
[ "${MC_UNDER:-}" != valgrind ] || exit 77
mkdir cases
export MC_EXPORT_CASES=$PWD/cases
for t in contents graph; do "$MC_BUILD/tests/unit/formats/codecs/test_$t" >output 2>&1 || { cat output; exit 1; }; done
cp "$MC_ROOT"/formats/samples/bad* cases
$python - <<'END'
import glob, os, sys
import mcz, msgpack, numpy as np
from mcz import framing, stream
sys.path.insert(0, os.environ["MC_ROOT"] + "/tests/parity")
import independent_reader
from refusal import expect_error, has_words

def read(path):
    if "/bad-" in path:
        return mcz.read(path)
    if "/graph-" not in path:
        return independent_reader.read(path)
    with open(path, "rb") as f:
        raw = f.read()
    framing.walk(framing.Memory(raw), stream.HEADER)
    return independent_reader.Graph(framing.unpack(raw))

# Errors of a run that compares its settings with a checkpoint's; to other readers these checkpoints are valid.
OF_A_RUN = ("got one*mc-bezier", "lr 0.05*run*0.1", "made without lr", "x 1*run without", "(got float32 (6))",
            "1 tensor expected*got 2")
good, bad, wrong = 0, 0, []
lines = [line.rstrip("\n").split("\t") for name in ("list.tsv", "bad.txt") for line in open("cases/" + name)]
for name, message in lines:
    kind = name.partition("-")[0]
    valid = not message and kind != "graph" or kind == "checkpoint" and message.startswith(OF_A_RUN)
    try:
        read("cases/" + name)
    except mcz.Error as e:
        bad += 1
        # a stream's text is checked before its graph
        if valid or not has_words(e, message) and "is not UTF-8 text without NUL" not in str(e):
            wrong.append("%s: \"%s\", not \"%s\"" % (name, e, "" if valid else message))
    else:
        good += 1
        wrong += [] if valid else ["%s was accepted (expected: \"%s\")" % (name, message)]
assert not wrong, "\n".join(wrong)
# the good samples still have their text
sys.path.insert(0, os.environ["MC_ROOT"] + "/formats/samples")
from text import text
samples = glob.glob(os.environ["MC_ROOT"] + "/formats/samples/good-*.mcz")
for path in samples:
    with open(path[:-4] + ".txt", encoding="utf-8") as f:
        assert text(path) == f.read(), path
assert len(samples) > 12
print("%d refused, %d read" % (bad, good))
assert bad > 230 and good > 25, (bad, good)

# write() refuses the headers and histories that read() refuses, and leaves no file
s = mcz.read(os.environ["MC_ROOT"] + "/formats/samples/good-weights.mcz")
before = os.listdir(".")
for kind, meta, tensors, past in ("we ights", s.meta, s.tensors, []), ("weights", {**s.meta, "net": "x" * (4 << 20)}, s.tensors, []), (
        "weights", s.meta, {"x" * 120: np.zeros(1)}, []), ("weights", s.meta, s.tensors, [{"tool": "x"}]):
    expect_error(["x.mcz: "], lambda: mcz.write("x.mcz", kind, meta, tensors, history=past))
assert os.listdir(".") == before
# the rules of a kind are checked by mc-info
for n, (meta, tensors) in enumerate((({**s.meta, "net": 7}, s.tensors), (s.meta, dict(list(s.tensors.items())[1:])))):
    mcz.write("x.mcz", "weights", meta, tensors)
    expect_error(["mc-info: x.mcz: ", ("\"net\" is not", "expected, got")[n]], lambda: mcz.check("x.mcz"))
mcz.check(os.environ["MC_ROOT"] + "/formats/samples/good-weights.mcz")
for path, words in ("none.mcz", "none.mcz"), ("x.mcz", "mc-info is not on PATH"):
    try:
        mcz.check(path)
    except OSError as e:
        assert words in str(e), e
    else:
        assert False, path
    os.environ["PATH"] = "/nowhere"
# a stream that is read and written keeps its content id
for path in glob.glob(os.environ["MC_ROOT"] + "/formats/samples/good-*.mcz"):
    s = mcz.read(path)
    assert mcz.write("again.mcz", s.kind, s.meta, s.tensors, s.history, s.inputs, s.dtypes) == s.id, path
END
