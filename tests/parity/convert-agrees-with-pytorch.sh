# SPDX-License-Identifier: Apache-2.0
# PyTorch's checkpoints have the same logits in mc, and permuted networks in PyTorch, to 1e-4: tinyten, resnet20 and
# googlenet, by safetensors and npz. A network trained by mc-train has the same accuracy in PyTorch.
need_torch 1.13
export PYTHONPATH=$MC_ROOT/formats/python:$MC_ROOT/tests/parity
logits=$MC_BUILD/tests/parity/test_convert
mc-data synth --samples 64 -o few.mcz

cat >save.py <<'END'
import numpy as np
import torch
import mcz
import torch_nets
torch.set_num_threads(1)
s = mcz.read("few.mcz")
x = torch_nets.normalised(s.tensors["images"], s.meta["mean"], s.meta["std"])
for name, net in (("tinyten", torch_nets.TinyTen()), ("resnet20", torch_nets.ResNet(20)),
                  ("googlenet", torch_nets.GoogLeNet())):
    torch.manual_seed(3)
    net = torch_nets.lived_in(net, x[:16], 4)
    torch_nets.save_npz(net, name + ".npz")
    torch_nets.save_safetensors(net, name + ".safetensors")
    np.save(name + ".npy", torch_nets.logits(net, x))
END
cat >compare.py <<'END'
import numpy as np
import torch
import mcz
import torch_nets
torch.set_num_threads(1)
s = mcz.read("few.mcz")
x = torch_nets.normalised(s.tensors["images"], s.meta["mean"], s.meta["std"])
nets = {"tinyten": torch_nets.TinyTen, "resnet20": lambda: torch_nets.ResNet(20), "googlenet": torch_nets.GoogLeNet}
for name, make in nets.items():
    expected = np.load(name + ".npy")
    for label, other in ("mc", np.loadtxt(name + ".tsv")), ("permuted, PyTorch", torch_nets.logits(
            torch_nets.load(make(), name + "-p.npz"), x)):
        worst = np.abs(expected - other).max()
        print("%s %s: logits up to %.3g, differing by %.2g" % (name, label, np.abs(expected).max(), worst))
        assert expected.std() > .05 and worst <= 1e-4, name
END
$python save.py
for net in tinyten resnet20 googlenet; do
    mc-convert $net.safetensors --net $net --data few.mcz -o $net.mcz
    mc-convert $net.npz --net $net --data few.mcz -o again.mcz
    [ "$(id $net.mcz)" = "$(id again.mcz)" ] || die "$net: npz and safetensors differ"
    "$logits" $net.mcz few.mcz >$net.tsv
    mc-permute --random 5 $net.mcz | mc-convert --to npz >$net-p.npz
done
$python compare.py

# a network trained by mc-train, and its permutation, have the same accuracy in PyTorch
mc-data synth --samples 3000 -o train.mcz
mc-data synth --split test --samples 500 -o test.mcz
mc-train -q --net tinyten --data train.mcz --epochs 1 --schedule onecycle --no-augment -o b.mcz
mc-permute --random 6 b.mcz -o pb.mcz
mc-convert b.mcz -o b.npz
mc-convert pb.mcz -o pb.npz
cmp -s b.npz pb.npz && die "nothing was permuted"
mc-eval b.mcz --data test.mcz >here.tsv
cat >accuracy.py <<'END'
import sys
import torch
import mcz
import torch_nets
torch.set_num_threads(1)
s = mcz.read("test.mcz")
x = torch_nets.normalised(s.tensors["images"], s.meta["mean"], s.meta["std"])
b, pb = (torch_nets.logits(torch_nets.load(torch_nets.TinyTen(), f), x) for f in ("b.npz", "pb.npz"))
right = [100 * (v.argmax(1) == s.tensors["labels"]).mean() for v in (b, pb)]
here = float(sys.argv[1])
print("accuracy in mc %g%%, in PyTorch %g%%, permuted %g%%" % (here, *right))
assert right[0] == right[1] and abs(right[0] - here) < 1e-3 and here > 15
END
$python accuracy.py "$(column here.tsv test.accuracy)"
