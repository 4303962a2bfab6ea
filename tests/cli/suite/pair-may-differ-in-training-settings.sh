# SPDX-License-Identifier: Apache-2.0
# Programs align, connect and measure two networks that differ only in dropout's probability or batch norm's momentum. Each
# warns once, and the curve has the first network's values. Another Huber delta is another network.
mc-data synth --samples 48 --size 8 -o d.mcz
py <<'END'
import json
nodes = [{"op": "normalise", "name": "pixels", "in": [], "mean": [.252, .252, .248], "std": [.183, .182, .179]}]
def add(op, name, **more):
    nodes.append({"op": op, "name": name, "in": [nodes[-1]["name"]], **more})
add("flatten", "flat")
for i in "12":
    add("linear", "fc" + i, out=8, bias=True)
    add("batchnorm", "bn" + i, eps=1e-5, momentum=.1)
    add("relu", "relu" + i)
    add("dropout", "drop" + i, p=.5)
add("linear", "head", out=10, bias=True)
add("loss", "loss", weight=1, train_only=False)
json.dump({"net": "mine", "input": [3, 8, 8], "classes": 10, "nodes": nodes}, open("net.json", "w"))
END
for s in 1 2; do mc-train -q -t 1 --net ./net.json --data d.mcz --batch 16 --epochs 1 --seed $s -o n$s.mcz; done
py <<'END'
s = mcz.read("n2.mcz")
def other(name, **settings):
    graph = dict(s.meta["graph"])
    graph["nodes"] = [{k: settings.get(k, v) for k, v in n.items()} for n in graph["nodes"]]
    mcz.write(name + ".mcz", s.kind, {**s.meta, "graph": graph}, s.tensors)
other("p", p=.25)
other("momentum", momentum=0.)
other("both", p=0., momentum=1.)
other("delta", delta=.5)
END
# warns WORDS COMMAND...: the command prints only one warning, with WORDS
warns() {
    "${@:2}" >out 2>err || die "${*:2}: $(cat err)"
    expect_lines err "$(basename "$2"): warning: n1.mcz*$1"
}
p='p.mcz*training settings: "p"*"drop1"*0.5*0.25*1 more'
both='both.mcz*training settings: "momentum"*"bn1"*0.1*1*3 more'
warns "$p" mc-acts -q -t 1 -d d.mcz n1.mcz p.mcz -o m.mcz
warns 'momentum.mcz*training settings: "momentum"*"bn1"*0.1*0*1 more' \
    mc-match n1.mcz momentum.mcz -o perm.mcz
warns "$both" mc-merge n1.mcz both.mcz -o merged.mcz
mc-merge n1.mcz n2.mcz | same_content - merged.mcz
mc-acts -q -t 1 -d d.mcz n1.mcz n2.mcz | same_content - m.mcz
warns "$both" mc-bezier -t 1 --epochs 0 n1.mcz both.mcz -o line.mcz
mc-bezier -t 1 --epochs 0 n1.mcz n2.mcz | same_content - line.mcz
warns "$both" mc-bezier -t 1 -q -d d.mcz --batch 16 --epochs 1 n1.mcz both.mcz -o curve.mcz
warns "$p" mc-bezier -t 1 -q -d d.mcz --batch 16 --epochs 1 --start p.mcz n1.mcz n2.mcz -o start.mcz
mc-info --graph n1.mcz >n1.json
for s in line curve start; do mc-info --graph $s.mcz | cmp - n1.json || die "$s.mcz: not n1.mcz's graph"; done
warns "$p" mc-pam -t 1 -q -d d.mcz --batch 16 --epochs 1 --permutation-epochs 1 --outer 1 n1.mcz p.mcz -o pam.mcz
warns "$p" mc-eval -q -t 1 --line --points 3 -d d.mcz --bn-data d.mcz n1.mcz p.mcz -o line.tsv
mc-permute --random 3 n2.mcz -o n3.mcz
warns "$p" mc-eval -q -t 1 --plane --grid 2 -d d.mcz --bn-data d.mcz n1.mcz p.mcz n3.mcz -o plane.tsv
for program in 'mc-acts -d d.mcz' mc-match mc-merge 'mc-bezier --epochs 0'; do
    fails 3 'n1.mcz*delta.mcz: different networks (mine, mine): node "relu1"*different "delta"' \
        $program n1.mcz delta.mcz
done

# without batch norm, for the bound; and mc-train --huber, whose networks evaluate the ReLU
mc-train -q -t 1 --net mlp:8,8 --data d.mcz --batch 16 --epochs 1 -o c1.mcz
mc-train -q -t 1 --net mlp:8,8 --data d.mcz --batch 16 --epochs 1 --seed 2 --huber .5 -o c2.mcz
mc-acts -q -t 1 --at pre -d d.mcz c1.mcz c2.mcz -o m.mcz
expect_message '' mc-bound c1.mcz c2.mcz m.mcz
