# SPDX-License-Identifier: Apache-2.0
# A safetensors header is read tensor by tensor: six megabytes of it take some more than themselves. They are read whether of
# metadata or of many small tensors, and with any white space.
[ -z "$MC_UNDER" ] || exit 77 # they hold memory of their own
mc-convert "$MC_ROOT/formats/samples/good-weights.mcz" -o w.safetensors
cp "$MC_ROOT/formats/samples/good-weights.mcz" w.mcz
py <<'PY'
import struct
raw = open("w.safetensors", "rb").read()
n, = struct.unpack("<Q", raw[:8])
header, data = json.loads(raw[8:8 + n]), raw[8 + n:]
many = {"t%05d" % i: {"dtype": "U8", "shape": [0], "data_offsets": [len(data), len(data)]} for i in range(65000)}
notes = {"__metadata__": {"%05d" % i: "a" for i in range(1 << 18)}}
wide = json.dumps({**header, "__metadata__": {}}, indent=1).replace(":", " : ").replace(",", "\t,\n")
for name, text in ("notes", json.dumps({**header, **notes})), ("many", json.dumps({**header, **many})), ("wide", wide):
    open(name + ".safetensors", "wb").write(struct.pack("<Q", len(text)) + text.encode() + data)
PY
[ "$(stat -c %s notes.safetensors)" -gt 3000000 ] && [ "$(stat -c %s many.safetensors)" -gt 4000000 ] || die "$(ls -l)"
py <<'PY'
import subprocess
for name, status in ("notes", 0), ("many", 3), ("wide", 0):
    p = subprocess.Popen(["mc-convert", name + ".safetensors", "--like", "w.mcz", "-o", "x.mcz"], stderr=subprocess.PIPE)
    said = p.stderr.read().decode()
    _, ended, usage = os.wait4(p.pid, 0)
    p.returncode = os.waitstatus_to_exitcode(ended)
    assert p.returncode == status, (p.returncode, said)
    assert usage.ru_maxrss < 52 << 10, (name, usage.ru_maxrss)
    print(name, usage.ru_maxrss)
PY
alike x.mcz w.mcz
