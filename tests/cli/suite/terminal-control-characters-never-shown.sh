# SPDX-License-Identifier: Apache-2.0
# Programs that print names from files or streams never print control characters (ASCII, C1, writing direction) or invalid
# UTF-8, and no name adds a cell or a line to a table.
evil=$'\e[31m\t\u009b2J\u202eevil\u2028\n\x7f'
export evil
fixture pair
mc-bezier --epochs 0 a.mcz b.mcz -o line.mcz
mc-eval -q -t 1 --data data.mcz --samples 20 --points 3 --bn-data data.mcz --bn-samples 20 --losses l.mcz line.mcz >/dev/null
acts a.mcz b.mcz -o m.mcz
cp a.mcz "$evil.mcz"
mc-convert a.mcz -o a.safetensors
py <<'END'
evil = os.environ["evil"]
soft = "\u009b2J\u202eevil"  # characters that a tensor's name may contain
def change(name, out, edit):
    s = mcz.read(name)
    tensors = dict(s.tensors)
    edit(s.meta, tensors)
    mcz.write(out, s.kind, s.meta, tensors)
change("data.mcz", "d.mcz", lambda m, t: m.update(name=evil, split=evil[:9], order=evil))
def layers(m, t):
    for i, tap in enumerate(m["taps"]):
        for old in [k for k in t if k.startswith("%d/" % i)]:
            t["%d/%s%s" % (i, soft, old[old.rindex("/"):])] = t.pop(old)
        tap["name"] = soft
change("m.mcz", "moments.mcz", layers)
def losses(m, t):
    for part in "loss", "correct":
        t[soft + "/" + part] = t.pop("train/" + part)
    m["data"][0]["name"] = soft
change("l.mcz", "losses.mcz", losses)
raw = open("a.safetensors", "rb").read()
size = int.from_bytes(raw[:8], "little")
head = json.loads(raw[8:8 + size])
head = {(evil + k if k != "__metadata__" else k): v for k, v in head.items()}
text = json.dumps(head).encode()
open("evil.safetensors", "wb").write(len(text).to_bytes(8, "little") + text + raw[8 + size:])
graph = json.load(open(os.environ["MC_ROOT"] + "/formats/samples/example_net.json"))
graph["nodes"][1]["name"] = evil
json.dump(graph, open("evil.json", "w"))
END
# check_output COMMAND...: its output, with any status, contains only its own line ends and tabs
tried=0
check_output() {
    "$@" >out.text 2>err.text || true
    [ -s out.text ] || [ -s err.text ] || die "$*: prints nothing"
    py "$*" <<'END'
import re
for name in "out.text", "err.text":
    text = open(name, "rb").read().decode("utf-8")
    wrong = re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]", text)
    assert not wrong, (sys.argv[1], name, wrong, text)
    lines = [line for line in text.split("\n") if line.strip()]
    assert name == "out.text" or len(lines) <= (12 if " -v " in sys.argv[1] else 3), (sys.argv[1], text)
    # a table's rows have as many columns as its header
    if name == "out.text" and "\t" in text:
        assert len({line.count("\t") for line in lines}) == 1, (sys.argv[1], text)
END
    tried=$((tried + 1))
}
bytes=$'\x9b31m\xffevil'
cp a.mcz "$bytes.mcz"
for file in "$evil.mcz" "$evil" "$bytes.mcz" "$bytes"; do
    check_output mc-info "$file"
    check_output mc-info --check "$file"
    check_output mc-eval --data "$file" a.mcz
    check_output mc-eval -q -t 1 --data data.mcz --samples 20 "$file"
    check_output mc-eval -q -t 1 --plane --grid 2 --data data.mcz --samples 20 --bn-data data.mcz --bn-samples 20 --marks /dev/stdout "$file" b.mcz "$file"
    check_output mc-permute "$file" a.mcz
    check_output mc-train --net "$file" --data data.mcz
    check_output mc-train --net mlp:4 --data "$file"
    check_output mc-corr "$file"
    check_output mc-hungarian "$file"
    check_output mc-convert --to "$file" a.mcz
    check_output mc-plot path "$file"
    check_output mc-data cifar10 "$file"
    check_output mc-acts --data data.mcz "$file" nosuch.mcz
done
check_output mc-eval -q -t 1 --data d.mcz --test-samples 20 a.mcz
check_output mc-eval -q -t 1 --data d.mcz --test-samples 20 --bn-data data.mcz --bn-samples 20 --points 3 --summary /dev/stderr line.mcz
for stream in d moments losses; do check_output mc-info "$stream.mcz"; done
for verbose in -q -v; do check_output mc-train $verbose -t 1 --net mlp:4 --epochs 0 --data "$evil.mcz"; done
check_output mc-corr --signature moments.mcz
check_output mc-corr -v moments.mcz -o c.mcz
check_output mc-info c.mcz
check_output mc-bootstrap losses.mcz
check_output mc-bootstrap losses.mcz l.mcz
check_output mc-convert --from safetensors --like a.mcz evil.safetensors
check_output mc-convert --from safetensors --net tinyten --data data.mcz evil.safetensors
check_output mc-train --net evil.json --data data.mcz
check_output mc-train "--$evil"
check_output mc-train --net "$evil" --data data.mcz
check_output mc-train --lr "$evil" --data data.mcz
printf 'tensor\taxis\toffset\tcount\tblock\tgroup\n\x9b31m\t0\t0\t1\t1\tg\n' >groups.tsv
check_output mc-convert a.safetensors --groups groups.tsv
printf 't\ttr.loss\ttr.accuracy\n0\tx\x9b31m\t2\n' >table.tsv
check_output mc-plot path table.tsv
ln -s "$(type -P mc-info)" "$evil" # a program's own name
check_output "./$evil" nosuch.mcz
mc-info --json "$bytes.mcz" >json
py <<'END'
assert json.load(open("json"))["file"] == "\ufffd31m\ufffdevil.mcz"
END
[ $tried -gt 60 ] || die "$tried commands"
