# SPDX-License-Identifier: Apache-2.0
"""align.py DATA A B FOLDER: time both ways to a permutation, in turn, each in separate processes.

    align.py --torch DATA A B OUT: PyTorch's way, which keeps every activation. Its seconds start at the
    loaded inputs, so that Python's start and reading do not count.

The second way needs python3-torch and python3-scipy; without them only ours is measured."""
import importlib.util
import os
import subprocess
import sys
import time

SAMPLES = 10000
ROUNDS = 3
sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", folder)
                for folder in ("../formats/python", "parity")]


def with_torch(data, a, b, out):
    import numpy as np
    import torch
    from scipy.optimize import linear_sum_assignment
    import mcz
    import torch_nets

    d = mcz.read(data)
    nets = [torch_nets.TinyTen() for _ in (a, b)]
    for net, f in zip(nets, (a, b)):
        state = {k: torch.from_numpy(v.copy()) for k, v in mcz.read(f).tensors.items()}
        net.eval().load_state_dict(state, strict=False)
    mean, std = (torch.tensor(d.meta[k]).view(1, 3, 1, 1) for k in ("mean", "std"))
    images = d.tensors["images"][:SAMPLES]
    start, cpu = time.perf_counter(), time.process_time()
    kept = [[[] for _ in net.layers] for net in nets]
    with torch.no_grad():
        for i in range(0, len(images), 128):
            x0 = (torch.from_numpy(images[i:i + 128]).float() / 255 - mean) / std
            for net, keep in zip(nets, kept):
                x = x0
                for layer, k in zip(net.layers, keep):
                    x = torch.relu(layer.bn(layer.conv(x)))
                    k.append(x)
        perms = []
        for x, y in zip(*kept):
            both = []
            for pieces in x, y:
                K, pixels = pieces[0].shape[1], pieces[0].shape[2:].numel()
                v, at = torch.empty(K, len(images) * pixels), 0
                while pieces:
                    piece = pieces.pop(0).permute(1, 0, 2, 3).reshape(K, -1)
                    v[:, at:at + piece.shape[1]] = piece
                    at += piece.shape[1]
                v -= v.mean(1, keepdim=True)
                v /= v.norm(dim=1, keepdim=True).clamp_min(1e-20)
                both.append(v)
            corr = (both[0] @ both[1].T).numpy()
            perms.append(linear_sum_assignment(corr, maximize=True)[1])
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    np.savez(out, *perms)
    print(seconds, cpu)


def wait(process):
    """CPU seconds, and the maximum resident size in MiB."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit("align.py: a stage failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def pipe(data, a, b, out):
    """Seconds, CPU seconds and MiB of the three stages together."""
    start = time.perf_counter()
    acts = subprocess.Popen(["mc-acts", "--data", data, "--samples", str(SAMPLES), a, b], stdout=subprocess.PIPE)
    corr = subprocess.Popen(["mc-corr", "-q"], stdin=acts.stdout, stdout=subprocess.PIPE)
    acts.stdout.close()
    last = subprocess.Popen(["mc-hungarian", "-q", "-o", out], stdin=corr.stdout)
    corr.stdout.close()
    cpu, mib = (sum(each) for each in zip(wait(last), wait(corr), wait(acts)))
    return time.perf_counter() - start, cpu, mib


def in_torch(data, a, b, out):
    p = subprocess.Popen([sys.executable, __file__, "--torch", data, a, b, out], stdout=subprocess.PIPE, text=True)
    seconds, cpu = map(float, p.stdout.readline().split())
    return seconds, cpu, wait(p)[1]


def agreement(ours, peers):
    import mcz
    import numpy as np
    p, q = mcz.read(ours).tensors.values(), np.load(peers).values()
    return np.mean([(x == y).mean() for x, y in zip(p, q)])


def main():
    if sys.argv[1] == "--torch":
        return with_torch(*sys.argv[2:])
    data, a, b, folder = sys.argv[1:]
    peer = all(importlib.util.find_spec(m) for m in ("torch", "scipy", "numpy"))
    ours, peers = [], []
    for _ in range(ROUNDS):
        ours.append(pipe(data, a, b, folder + "/p.mcz"))
        if peer:
            peers.append(in_torch(data, a, b, folder + "/p.npz"))
    best = [[min(column) for column in zip(*each)] for each in (ours, peers) if each]
    print("way\timages\tseconds\tcpu_seconds\tMiB")
    for way, row in zip(("mc-acts|mc-corr|mc-hungarian", "every activation in PyTorch"), best):
        print("%s\t%d\t%.2f\t%.2f\t%.0f" % (way, SAMPLES, *row))
    if not peer:
        print("# python3-torch or python3-scipy is missing: no comparison")
        return
    print("ratio\t%d\t%.1f\t%.1f\t%.1f" % (SAMPLES, *(y / x for x, y in zip(*best))))
    print("# units with the same partner in both: %.1f%%" % (100 * agreement(folder + "/p.mcz", folder + "/p.npz")))


main()
