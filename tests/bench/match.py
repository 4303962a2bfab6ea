# SPDX-License-Identifier: Apache-2.0
"""match.py THREADS PROGRAM...: time the first sweep of weight matching, in turn with PyTorch and SciPy.

Two random mlps with LAYERS layers of UNITS units are matched from the identity, so the sweep visits every group.
PROGRAM is mc-match, or several versions of it. Prints seconds; the peer's in brackets are those of its products.
Needs mc-data, mc-train and mc-permute in PATH, and Python's torch and scipy. UNITS, LAYERS and ROUNDS are read from
the environment."""
import os
import subprocess
import sys
import tempfile
import time

UNITS, LAYERS, ROUNDS = (int(os.environ.get(*v)) for v in (("UNITS", "3072"), ("LAYERS", "12"), ("ROUNDS", "3")))


def first_sweep(program, threads, identity, a, b):
    """The seconds between the lines of the start and of sweep 1 of mc-match -v, which then is stopped."""
    with subprocess.Popen([program, "-v", "-t", threads, "--init", identity, a, b, "-o", os.devnull],
                          stderr=subprocess.PIPE, text=True) as match:
        start = None
        for line in match.stderr:
            if "start:" in line:
                start = time.perf_counter()
            elif "sweep 1:" in line:
                match.kill()
                return time.perf_counter() - start
    sys.exit(f"match.py: {program} printed no sweep")


def peer(threads):
    """The same step for every group, in a random order."""
    import torch
    from scipy.optimize import linear_sum_assignment

    torch.set_num_threads(int(threads))
    bound = UNITS**-.5
    a, b = ([(torch.rand(UNITS, UNITS) * 2 - 1) * bound for _ in range(LAYERS + 1)] for _ in range(2))
    order = [torch.arange(UNITS) for _ in range(LAYERS)]
    start, products = time.perf_counter(), 0.0
    for k in torch.randperm(LAYERS).tolist():
        begin = time.perf_counter()
        value = a[k] @ (b[k][:, order[k - 1]] if k else b[k]).T
        value += a[k + 1].T @ (b[k + 1][order[k + 1]] if k + 1 < LAYERS else b[k + 1])
        products += time.perf_counter() - begin
        order[k] = torch.from_numpy(linear_sum_assignment(value.numpy(), maximize=True)[1])
    return time.perf_counter() - start, products


def main(threads, *programs):
    with tempfile.TemporaryDirectory() as folder:
        data, identity, a, b = (os.path.join(folder, name) for name in ("d.mcz", "identity.mcz", "a.mcz", "b.mcz"))
        subprocess.run(["mc-data", "synth", "--samples", "10", "-q", "-o", data], check=True)
        for net, seed in ((a, "1"), (b, "2")):
            subprocess.run(["mc-train", "-q", "--net", "mlp:" + ",".join([str(UNITS)] * LAYERS), "--epochs", "0", "--seed",
                            seed, "--data", data, "-o", net], check=True)
        subprocess.run(["mc-permute", "--identity", b, "-o", identity], check=True)
        for _ in range(ROUNDS):
            for program in programs:
                print(f"{program}\t{first_sweep(program, threads, identity, a, b):.2f}", flush=True)
            print("peer\t{:.2f}\t({:.2f})".format(*peer(threads)), flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
