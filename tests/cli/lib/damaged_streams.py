# SPDX-License-Identifier: Apache-2.0
"""Run programs on damaged streams of each kind; used by streams/streams-damaged-refused.sh."""
import os
import subprocess

import mcz
import msgpack
import xxhash
from stream_tools import LIMIT, ended, frame, objects as decoded, run, sample, under

samples = {k: sample(k) for k in "dataset weights moments activations matrices permutation permutation-joint permutation-matrices curve losses".split()}
TRAIN = ["mc-train", "-q", "--net", "mlp:3", "--data", samples["dataset"], "--no-augment",
         "--threads", "1"]
samples["state"] = os.path.abspath("state.mcz")
subprocess.run(TRAIN + ["--epochs", "2", "--stop-after", "1", "--checkpoint", samples["state"],
                        "-o", "half.mcz"], check=True)
PAM = ["mc-pam", "-q", "--permutation-epochs", "1", "--epochs", "0", "--data", samples["dataset"]]
samples["pam"] = os.path.abspath("pam.mcz")
subprocess.run(PAM + [samples["weights"], samples["weights"], "-o", samples["pam"]], check=True)

# a network without batch norm, and the moments before its ReLU
subprocess.run(TRAIN + ["--epochs", "1", "-o", "plain.mcz"], check=True)
subprocess.run(["mc-acts", "-q", "--at", "pre", "--data", samples["dataset"], "--samples", "2", "plain.mcz", "plain.mcz",
                "-o", "pre.mcz"], check=True)
samples["pre"] = os.path.abspath("pre.mcz")
BOUND = ["mc-bound", "plain.mcz", "plain.mcz"]

# programs by kind; {} stands for the stream, None means that the only output is text
READERS = {
    "dataset": ["mc-eval", "--data", "{}", samples["weights"]],
    "weights": ["mc-permute", samples["permutation"], "{}"],
    "moments": ["mc-corr", "{}"],
    "activations": ["mc-corr", samples["activations"], "{}"],
    "pre": BOUND + ["{}"],
    "matrices": ["mc-hungarian", "{}"],
    "permutation": ["mc-permute", "{}", samples["weights"]],
    "permutation-joint": ["mc-permute", "{}", samples["weights"]],
    "permutation-matrices": ["mc-permute", "--inverse", "{}"],
    "curve": ["mc-eval", "--points", "2", "--data", samples["dataset"], "{}"],
    "losses": ["mc-bootstrap", samples["losses"], "{}"],
    "pam": PAM + ["--init", "{}", samples["weights"], samples["weights"]],
    "state": TRAIN + ["--epochs", "2", "--checkpoint", "{}", "--resume"],
}
MORE = {
    "dataset": [TRAIN[:5] + ["{}", "--epochs", "1"],
                ["mc-bezier", "-q", "--data", "{}", "--epochs", "1", "half.mcz", "half.mcz"],
                ["mc-acts", "--data", "{}", samples["weights"], samples["weights"]],
                PAM[:-1] + ["{}", samples["weights"], samples["weights"]],
                ["mc-permute", "--verify", "{}", samples["permutation"], samples["weights"]],
                ["mc-pgd", "-q", "--data", "{}", samples["weights"]]],
    "weights": [["mc-eval", "--data", samples["dataset"], "{}"],
                ["mc-acts", "--data", samples["dataset"], samples["weights"], "{}"],
                ["mc-pgd", "-q", "--data", samples["dataset"], "{}"],
                PAM + [samples["weights"], "{}"],
                ["mc-convert", "--to", "npz", "{}"],
                ["mc-bezier", "-q", "--data", samples["dataset"], "--epochs", "0",
                 samples["weights"], "{}"]],
    "curve": [["mc-bezier", "--point", "0.5", "{}"]],
    "pam": [PAM + ["--perm", "{}", samples["weights"], samples["weights"]], ["mc-permute", "{}", samples["weights"]]],
    "permutation": [PAM + ["--perm", "{}", samples["weights"], samples["weights"]],
                    ["mc-corr", "--signature", "--perm", "{}", samples["moments"]],
                    ["mc-bezier", "--epochs", "0", "--perm", "{}", samples["weights"], samples["weights"]],
                    BOUND + [samples["pre"], "{}"]],
    "moments": [["mc-corr", "--signature", "{}"]],
}


def sealed(objects):
    """The stream with an end record that matches the other objects."""
    hashed = b"".join(objects[:1] + objects[2:-1])
    end = msgpack.unpackb(objects[-1])
    end.update(end=len(objects) - 3, id=xxhash.xxh3_128_hexdigest(hashed))
    return frame(objects[:-1] + [msgpack.packb(end)])


def with_header(objects, change):
    head = msgpack.unpackb(objects[0], strict_map_key=False)
    change(head)
    return sealed([msgpack.packb(head)] + objects[1:])


def damaged(path):
    """(name, bytes) of every type of damage; each must be refused."""
    with open(path, "rb") as f:
        whole = f.read()
    objects = decoded(path)
    for n in sorted({0, 1, 5, len(whole) // 2, len(whole) - 5, len(whole) - 1}):
        yield "cut-%d" % n, whole[:n]
    yield "appended", whole + b"\0"
    yield "twice", whole + whole
    yield "flipped", bytes(b ^ (i == len(whole) * 3 // 4) for i, b in enumerate(whole))
    yield "no-end", frame(objects[:-1])
    yield "no-checksum", frame(objects, checksum=False)
    end = msgpack.unpackb(objects[-1])
    yield "count", frame(objects[:-1] + [msgpack.packb({**end, "end": end["end"] + 1})])
    yield "id", frame(objects[:-1] + [msgpack.packb({**end, "id": "0" * 32})])
    yield "a-record-less", frame(objects[:2] + objects[3:])
    yield "no-record", sealed(objects[:2] + objects[-1:])
    yield "bomb", frame([objects[0][:1] + b"\xa4meta\xdd\xff\0\0\0"])
    record = msgpack.unpackb(objects[2])
    yield "sum", sealed(objects[:2] + [msgpack.packb({**record, "xxh": record["xxh"] ^ 1})] +
                        objects[3:])

    def shape(v):
        return lambda h: h["tensors"][0].__setitem__(2, v + h["tensors"][0][2][1:])

    yield "2p63", with_header(objects, shape([1 << 63]))
    yield "2p40", with_header(objects, shape([1 << 40]))
    yield "dtype", with_header(objects, lambda h: h["tensors"][0].__setitem__(1, "int64"))
    yield "renamed", with_header(objects, lambda h: h["tensors"][0].__setitem__(0, "other"))
    yield "kind", with_header(objects, lambda h: h.update(kind="unheard-of"))
    yield "meta", with_header(objects, lambda h: h.update(meta={}))


failures, runs, most = [], 0, 0


def check(what, command, stdin=None):
    global runs, most
    old = "cut" in what and "out.mcz" in command
    if old:
        open("out.mcz", "w").write("old")
    status, out, err, rss = run(command, stdin)
    runs += 1
    most = max(most, rss)
    wrong = []
    if status != 3:
        wrong.append("status %d" % status)
    if err.count("\n") != 1 or not err.startswith(command[0] + ": "):
        wrong.append("not one line")
    if rss > LIMIT and not under:
        wrong.append("%d KiB" % rss)
    if os.path.exists("out.mcz"):
        if not old or open("out.mcz", "rb").read() != b"old":
            wrong.append("wrote an output")
        os.unlink("out.mcz")
    if [n for n in os.listdir(".") if n.endswith(".mcz-tmp")]:
        wrong.append("left a temporary")
    if out and command[0] not in ("mc-eval", "mc-bound", "mc-bootstrap") and "--signature" not in command and "--verify" not in command:
        try:
            open("stdout.mcz", "wb").write(out)
            mcz.read("stdout.mcz")
            wrong.append("wrote a whole stream")
        except mcz.Error:
            pass
    elif out:
        wrong.append("wrote a table")
    if wrong:
        failures.append("%s: %s: %s\n    %s" % (what, " ".join(command), ", ".join(wrong), err))


only_framing = {"2p40", "dtype", "renamed", "kind", "meta"}  # mc-info may accept these
for kind, path in samples.items():
    programs = [READERS[kind]] + MORE.get(kind, [])
    for program in programs:
        status, out, err, _ = run([a.replace("{}", path) for a in program])
        if status:
            failures.append("%s: %s refuses a good one: %s" % (kind, program[0], err))
    half = "cut-%d" % (os.path.getsize(path) // 2)
    for name, data in damaged(path):
        if under == "valgrind" and name not in (half, "no-record", "meta"):
            continue  # a run takes seconds under valgrind
        bad = "bad-%s-%s.mcz" % (kind, name)
        with open(bad, "wb") as f:
            f.write(data)
        what = "%s, %s" % (kind, name)
        if name not in only_framing:
            check(what, ["mc-info", "--check", bad])
        # each damage through one program with a file as output, a few through all programs and a pipe
        some = programs if name in (half, "2p63", "meta") else programs[:1]
        for program in some:
            command = [a.replace("{}", bad) for a in program]
            check(what, command + ["-o", "out.mcz"])
            if name.startswith("cut") and kind != "state" and not under:
                with open(bad, "rb") as f:
                    check(what + ", by a pipe", [a.replace("{}", "-") for a in program], f)
        os.unlink(bad)

ended(failures, runs, most, 40 if under == "valgrind" else 250)
