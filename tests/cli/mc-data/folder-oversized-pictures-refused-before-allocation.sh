# SPDX-License-Identifier: Apache-2.0
# mc-data folder refuses, before allocation, a picture larger than its file can contain or than a data set may contain. A
# small empty picture is read.
[ -z "$MC_UNDER" ] || exit 77 # sanitizers need their own memory
py <<'PY'
import struct, subprocess, zlib, shutil
def chunk(name, data): return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
def png(width, height, depth, colour, raw):
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b""))
def blank(width, height): return png(width, height, 1, 0, bytes((1 + (width + 7) // 8) * height))
jpeg = open(os.environ["MC_ROOT"] + "/tests/pictures/progressive.JPG", "rb").read()
at = jpeg.index(b"\xff\xc2") + 5
CASES = [
    # the file contains every row of 32 million pixels, in 4 kB: 100 MB of RGB
    (blank(8192, 4096), ["--size", "8"], "the file is too small for a picture of"),
    (png(2048, 1024, 8, 2, bytes(100)), ["--size", "8"], "the file is too small for a picture of"),
    (jpeg[:at] + struct.pack(">HH", 4096, 8192) + jpeg[at + 4:], ["--size", "8"], "the file is too small for a picture of"),
    (blank(3000, 3000), [], "is too large"),
    (blank(3300, 3300), ["--size", "8"], ""),
]
for raw, options, why in CASES:
    shutil.rmtree("set", ignore_errors=True)
    os.makedirs("set/a")
    open("set/a/x.png", "wb").write(raw)
    assert len(raw) < 6000, len(raw)
    p = subprocess.Popen(["mc-data", "folder", "set", "--classes", "1", *options, "-o", "d.mcz"], stderr=subprocess.PIPE)
    errors = p.stderr.read().decode()
    _, status, usage = os.wait4(p.pid, 0)
    p.returncode = os.waitstatus_to_exitcode(status)
    assert p.returncode == (3 if why else 0) and why in errors and errors.count("\n") == bool(why), (p.returncode, errors)
    assert usage.ru_maxrss < (80 if not why else 56) << 10, (why, usage.ru_maxrss)
PY
