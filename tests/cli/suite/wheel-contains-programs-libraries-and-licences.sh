# SPDX-License-Identifier: Apache-2.0
# A wheel contains every program, the libraries that it loads and their licences. Its RECORD is right, and packing twice
# gives the same bytes.
[ -z "${MC_UNDER:-}" ] && command -v dpkg >/dev/null || exit 77
install -D -t stage/usr/bin "$MC_BUILD"/bin/mc-*
for d in 1 2; do mkdir $d && "$MC_ROOT/pipelines/setup/build_wheel.py" stage $d >name; done
same 1/*.whl 2/*.whl
/usr/bin/python3 - 1/*.whl "$MC_BUILD"/bin/mc-* <<'END'
import base64, csv, hashlib, io, os, re, subprocess, sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
names = wheel.namelist()
info = next(n for n in names if n.endswith("/RECORD")).rsplit("/", 1)[0]
data = info.replace(".dist-info", ".data/data")
recorded = {row[0]: row for row in csv.reader(io.StringIO(wheel.read(info + "/RECORD").decode()))}
assert sorted(recorded) == sorted(names), "RECORD differs from the contents"
for name in names:
    if name != info + "/RECORD":
        digest = base64.urlsafe_b64encode(hashlib.sha256(wheel.read(name)).digest()).rstrip(b"=").decode()
        assert recorded[name][1:] == ["sha256=" + digest, str(len(wheel.read(name)))], name
for program in sys.argv[2:]:
    entry = wheel.getinfo(f"{data}/bin/{os.path.basename(program)}")
    assert entry.external_attr >> 16 & 0o111, "not executable: " + entry.filename
    needed = re.findall(r"NEEDED +(\S+)", subprocess.run(["objdump", "-p", program], capture_output=True, text=True).stdout)
    for library in needed:
        assert re.match(r"(libc|libm|ld-linux.*)\.so", library) or f"{data}/lib/mc/{library}" in names, library
assert "mcz/torch.py" in names and info + "/licenses/LICENSE" in names
assert sum(n.startswith(info + "/licenses/lib") for n in names) > 8, "licences of the libraries"
END
