# SPDX-License-Identifier: Apache-2.0
# A message is a single write, so that messages of a pipe's programs do not mix. With the longest path it still contains
# the reason.
py <<'END'
import subprocess
def messages(*command):
    r, w = os.pipe2(os.O_DIRECT)  # a read returns exactly one write
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=w)
    os.close(w)
    writes = []
    while True:
        writes.append(os.read(r, 1 << 16))
        if not writes[-1]:
            os.close(r)
            return writes[:-1]
def is_one(end, *command):
    writes = messages(*command)
    text = writes[0].decode() if writes else ""
    assert len(writes) == 1 and text.startswith(command[0] + ": ") and text.endswith(end + "\n"), (command, writes)
deep = "/".join(["é" * 100] * 19)  # 3,818 bytes
os.makedirs(deep)
open(deep + "/bad.mcz", "wb").write(b"no stream")
is_one("cannot open 'none.mcz': No such file or directory", "mc-info", "none.mcz")
is_one("(see --help)", "mc-train", "--nosuch")
is_one("No such file or directory", "mc-info", deep + "/none.mcz")
is_one(": is not an mcz stream", "mc-info", deep + "/bad.mcz")
is_one(": is not an mcz stream", "mc-info", "--check", deep + "/bad.mcz")
is_one("No such file or directory", "mc-permute", "--identity", deep + "/none.mcz", "-o", "x.mcz")
END
