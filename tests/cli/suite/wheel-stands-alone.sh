# SPDX-License-Identifier: Apache-2.0
# make wheel: the wheel contains every program, the libraries that it loads, their licences and the package mcz once. The
# loader finds the libraries inside the wheel; only the C library's are outside, in a version that the wheel's tag states.
# RECORD is right, no file names the folder of the build, and packing twice gives the same bytes.
[ -z "${MC_UNDER:-}" ] && command -v dpkg >/dev/null || exit 77
# link the objects of the build with the wheel's options
mkdir build-wheel
cp -a "$MC_BUILD"/{flags,commit,libmc.a,libcommon,kernels,formats,tools} build-wheel
make -s -C "$MC_ROOT" BUILD="$PWD/build" PACKAGES=true FLAGS="$(<build-wheel/flags)" wheel >made 2>&1 || die "$(<made)"
if grep CC made; then die 'compiled again'; fi
wheel=$(echo build-wheel/*.whl)
mkdir again
"$MC_ROOT/pipelines/setup/build_wheel.py" build-wheel/stage again >name
same "$wheel" "again/$(<name)"

/usr/bin/python3 - "$wheel" "$MC_ROOT" "$PWD/build" <<'END'
import base64, csv, glob, hashlib, io, os, re, subprocess, sys, zipfile
wheel, root, build = zipfile.ZipFile(sys.argv[1]), *sys.argv[2:]
names = wheel.namelist()
info = next(n for n in names if n.endswith("/RECORD")).rsplit("/", 1)[0]
data = info.replace(".dist-info", ".data/data")
recorded = {row[0]: row for row in csv.reader(io.StringIO(wheel.read(info + "/RECORD").decode()))}
assert sorted(recorded) == sorted(names), "RECORD differs from the contents"
elves = {}
for name in names:
    content, mode = wheel.read(name), wheel.getinfo(name).external_attr >> 16
    if name != info + "/RECORD":
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        assert recorded[name][1:] == ["sha256=" + digest, str(len(content))], name
    assert root.encode() not in content and build.encode() not in content, "names the build: " + name
    assert not content.startswith(b"#!/usr/bin/python"), "python of another environment: " + name
    if name.startswith(data):
        os.makedirs(os.path.dirname(name), exist_ok=True)
        with open(name, "wb") as f:
            f.write(content)
        os.chmod(name, mode)
        if content.startswith(b"\x7fELF"):
            elves[name] = subprocess.run(["objdump", "-p", name], check=True, capture_output=True, text=True).stdout

assert "mc-plot = mcz.plot:main" in wheel.read(info + "/entry_points.txt").decode() and data + "/bin/mc-plot" not in names
assert [n for n in names if n.endswith("mcz/torch.py")] == ["mcz/torch.py"], "mcz once"
licences = [n for n in names if n.startswith(info + "/licenses/")]
assert info + "/licenses/LICENSE" in names and sum("/licenses/lib" in n for n in licences) > 8
for common in {c for n in licences for c in re.findall(rb"/usr/share/(common-licenses/[\w.+-]*\w)", wheel.read(n))}:
    assert f"{info}/licenses/{common.decode()}" in names, common
tag = re.search(r"^Tag: (py3-none-manylinux_2_(\d+)_\w+)$", wheel.read(info + "/WHEEL").decode(), re.M)
assert sys.argv[1].endswith("-" + tag[1] + ".whl"), tag[1]

programs = {f"{data}/bin/{os.path.basename(p)[:-2]}" for p in glob.glob(root + "/tools/mc-*.c")}
assert programs and programs == {n for n in elves if "/bin/" in n}, programs
outside = r"linux-vdso|ld-linux|lib(c|m|dl|rt|pthread)\.so"
inside = os.path.realpath(f"{data}/lib/mc")
loaded = set()
for program in programs:
    trace = subprocess.run([program], env={"LD_TRACE_LOADED_OBJECTS": "1"}, check=True, capture_output=True, text=True).stdout
    for line in trace.splitlines():
        library, _, path = line.strip().partition(" => ")
        if not re.search(outside, library):
            assert os.path.realpath(path.split(" (")[0]) == f"{inside}/{library}", f"{program}: {line}"
            loaded.add(f"{data}/lib/mc/{library}")
assert loaded == set(elves) - programs and len(loaded) > 5, "libraries that no program loads"
versions = set()
for name, header in elves.items():
    assert not re.search("RUNPATH", header), name
    assert re.findall(r"RPATH +(.*)", header) == (["$ORIGIN/../lib/mc"] if name in programs else []), name
    versions.update(map(int, re.findall(r"\bGLIBC_2\.(\d+)", header)))
assert 17 <= max(versions) <= int(tag[2]), f"glibc 2.{max(versions)}, {tag[1]}"

# instruction sets above the baseline are in functions that are called after a check of the processor
code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "build-wheel/libmc.a"], capture_output=True, text=True).stdout
place, seen = ["", ""], 0
for line in code.splitlines() if tag[1].endswith("x86_64") else ():
    if line.endswith(">:"):
        place[1] = line
    elif "file format" in line:
        place[0] = line
    elif "\tv" in line and re.search(r"\tv[a-z0-9]+ .*%[xyz]mm", line):
        assert "isa_avx" in place[0] or "avx" in place[1], f"{place}: {line}"
        seen += 1
assert seen or not tag[1].endswith("x86_64")
END
