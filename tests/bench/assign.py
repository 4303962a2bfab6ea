#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Time mc_assign_max and scipy.optimize.linear_sum_assignment on the same matrices in turn, and print the best of
several runs: assign.py PATH-OF-BENCH_ASSIGN. Without SciPy its columns are "-"."""
import os
import subprocess
import sys
import time

try:
    from scipy.optimize import linear_sum_assignment
except ImportError:
    linear_sum_assignment = None
if linear_sum_assignment:
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "parity"))
    sys.dont_write_bytecode = True
    from make_assign_golden import matrix

SIZES = [64, 65, 96, 128, 256, 512, 1024, 2048]
KINDS = ["uniform", "correlation", "tied-correlation", "ties"]


def main():
    ours = subprocess.Popen([sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    print("kind\tn\tscipy_s\tmc_s\tratio", flush=True)
    for kind in KINDS:
        for n in SIZES:
            value = matrix(kind, n, n) if linear_sum_assignment else None
            best = {"scipy": float("inf"), "mc": float("inf")}
            total = {}
            for _ in range(60 if n <= 256 else 12 if n <= 1024 else 5):
                print(kind, n, n, file=ours.stdin, flush=True)
                answer = ours.stdout.readline().split()
                if len(answer) != 2:
                    sys.exit(f"assign.py: bench_assign exited with {ours.wait()}")
                best["mc"] = min(best["mc"], float(answer[0]))
                total["mc"] = float(answer[1])
                if value is None:
                    continue
                start = time.perf_counter()
                rows, cols = linear_sum_assignment(value, maximize=True)
                best["scipy"] = min(best["scipy"], time.perf_counter() - start)
                total["scipy"] = value[rows, cols].sum()
            if value is None:
                print(kind, n, "-", f"{best['mc']:.6f}", "-", sep="\t", flush=True)
                continue
            if abs(total["mc"] - total["scipy"]) > n * 2.0**-48:
                sys.exit(f"assign.py: {kind} {n}: values {total['mc']!r} and {total['scipy']!r}")
            print(kind, n, f"{best['scipy']:.6f}", f"{best['mc']:.6f}",
                  f"{best['scipy'] / best['mc']:.2f}", sep="\t", flush=True)
    ours.stdin.close()
    return ours.wait()


if __name__ == "__main__":
    sys.exit(main())
