# SPDX-License-Identifier: Apache-2.0
"""Time PyTorch's training step (zero_grad, forward, cross-entropy of all heads, backward, SGD with Nesterov
momentum) on one synthetic batch. Prints each mode's name and its best and median images/s.

usage: torch_train.py MODES NET BATCH THREADS SECS [cpu|cuda[:N]]
MODES  words LAYOUT[,NUMBERS][,graph|,compile], measured in turn. LAYOUT: nchw or cl (channels_last). NUMBERS: f32 (no
       TF32), tf32 (everywhere), bf16, f16 (autocast; the batch is cast before), or `default`, PyTorch's: TF32 in
       convolutions, not in linear layers. graph: a CUDA graph. compile: torch.compile, also a graph
SECS   seconds per mode
cpu    count the first thread's processor time
cuda   on that device: the clock counts 32 steps and the wait for them, as bench_train's does
MC_GATE in the environment: a folder in which it creates a file when warm; it starts when the file "go" exists"""
import os
import statistics
import sys
import time

import torch
from torch import nn


def unit(i, o, k=1, stride=1, pad=None, bias=False, eps=1e-5):
    return nn.Sequential(nn.Conv2d(i, o, k, stride, k // 2 if pad is None else pad, bias=bias),
                         nn.BatchNorm2d(o, eps=eps), nn.ReLU(inplace=True))


def ending(width, classes, *before):
    return nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), *before, nn.Linear(width, classes))


def tinyten():
    layers = [unit(i, o, k, s, p, True) for i, o, k, s, p in (
        (3, 16, 3, 1, 1), (16, 16, 3, 1, 1), (16, 32, 3, 2, 1), (32, 32, 3, 1, 1), (32, 32, 3, 1, 1),
        (32, 64, 3, 2, 1), (64, 64, 3, 1, 0), (64, 64, 1, 1, 0))]
    return nn.Sequential(*layers, ending(64, 10))


class Block(nn.Module):
    def __init__(self, i, o, stride):
        super().__init__()
        self.first = unit(i, o, 3, stride)
        self.second = nn.Sequential(nn.Conv2d(o, o, 3, 1, 1, bias=False), nn.BatchNorm2d(o))
        self.skip = nn.Identity() if i == o else nn.Sequential(nn.Conv2d(i, o, 1, stride, bias=False),
                                                              nn.BatchNorm2d(o))

    def forward(self, x):
        y = self.second(self.first(x))
        y += self.skip(x)
        return nn.functional.relu(y, inplace=True)


def resnet32():
    widths = [16] + [16 << stage for stage in range(3) for _ in range(5)]
    return nn.Sequential(unit(3, 16, 3), *(Block(i, o, 1 if i == o else 2) for i, o in zip(widths, widths[1:])),
                         ending(64, 10))


def cbr(i, o, k=1):
    return unit(i, o, k, eps=1e-3)


class Inception(nn.Module):
    def __init__(self, i, a, br, b, cr, c, d):
        super().__init__()
        self.branches = nn.ModuleList((cbr(i, a), nn.Sequential(cbr(i, br), cbr(br, b, 3)),
                                       nn.Sequential(cbr(i, cr), cbr(cr, c, 3)),
                                       nn.Sequential(nn.MaxPool2d(3, 1, 1), cbr(i, d))))

    def forward(self, x):
        return torch.cat([b(x) for b in self.branches], 1)


def aux(i, classes):
    return nn.Sequential(nn.AdaptiveAvgPool2d(4), cbr(i, 128), nn.Flatten(), nn.Linear(2048, 1024),
                         nn.ReLU(inplace=True), nn.Dropout(.7), nn.Linear(1024, classes))


class GoogLeNet(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.a = nn.Sequential(
            cbr(3, 64, 7), cbr(64, 64), cbr(64, 192, 3), nn.MaxPool2d(3, 2, ceil_mode=True),
            Inception(192, 64, 96, 128, 16, 32, 32), Inception(256, 128, 128, 192, 32, 96, 64),
            nn.MaxPool2d(3, 2, ceil_mode=True), Inception(480, 192, 96, 208, 16, 48, 64))
        self.b = nn.Sequential(Inception(512, 160, 112, 224, 24, 64, 64), Inception(512, 128, 128, 256, 24, 64, 64),
                               Inception(512, 112, 144, 288, 32, 64, 64))
        self.c = nn.Sequential(Inception(528, 256, 160, 320, 32, 128, 128),
                               Inception(832, 256, 160, 320, 32, 128, 128),
                               Inception(832, 384, 192, 384, 48, 128, 128), ending(1024, classes, nn.Dropout(.2)))
        self.aux1, self.aux2 = aux(512, classes), aux(528, classes)

    def forward(self, x):
        x = self.a(x)
        y = self.b(x)
        return self.c(y), self.aux1(x), self.aux2(y)


def loss(out, y):
    heads = out if isinstance(out, tuple) else (out,)
    return sum((.3 if k else 1) * nn.functional.cross_entropy(x, y) for k, x in enumerate(heads))


def cross_entropy_step(net, x, y, sgd, half):
    """Return a step. `half`: None, or autocast's type. float16's losses are not scaled, to PyTorch's advantage."""
    def step():
        sgd.zero_grad(set_to_none=True)
        if half is None:
            total = loss(net(x), y)
        else:  # a capture forbids the cache of cast weights
            with torch.autocast(x.device.type, dtype=half, cache_enabled=False):
                total = loss(net(x), y)
        total.backward()
        sgd.step()
    return step


def captured(step):
    """Return the step as a CUDA graph, by PyTorch's documentation: warmed up on a side stream, then captured."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(5):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def optimizer(net, device):
    options = dict(lr=.01, momentum=.9, nesterov=True, weight_decay=5e-4)
    if device != "cpu":
        try:
            return torch.optim.SGD(net.parameters(), fused=True, **options)
        except (TypeError, RuntimeError):
            pass  # before PyTorch 2.3
    return torch.optim.SGD(net.parameters(), **options)


def measure(mode, name, batch, seconds, device, clock):
    """Best and median images/s."""
    words = mode.split(",")
    layout, numbers = words[0], set(words[1:])
    half = {"bf16": torch.bfloat16, "f16": torch.float16}.get(next(iter(numbers & {"bf16", "f16"}), None))
    # PyTorch's default: TF32 in convolutions, not in matrix products
    torch.backends.cudnn.allow_tf32 = "f32" not in numbers
    torch.backends.cuda.matmul.allow_tf32 = "tf32" in numbers
    torch.manual_seed(0)
    memory = torch.channels_last if layout == "cl" else torch.contiguous_format
    net = {"tinyten": tinyten, "resnet32": resnet32, "googlenet": GoogLeNet}[name]()
    net = net.to(device).to(memory_format=memory).train()
    x = torch.randn(batch, 3, 32, 32).to(device, half).contiguous(memory_format=memory)
    y = torch.randint(0, 10, (batch,)).to(device)
    if "compile" in numbers:
        net = torch.compile(net, mode="reduce-overhead")
    step, steps, wait = cross_entropy_step(net, x, y, optimizer(net, device), half), 1, lambda: None
    if device != "cpu":
        steps, wait = 32, torch.cuda.synchronize
        for _ in range(5):  # cuDNN's own choice of algorithms
            step()
        if "graph" in numbers:
            step = captured(step)
        step()
        wait()
    gate = os.environ.get("MC_GATE")
    if gate:
        open("%s/%d" % (gate, os.getpid()), "w").close()
        while not os.path.exists(gate + "/go"):
            time.sleep(.001)
    times, start = [], clock()
    while len(times) < 3 or clock() - start < seconds:
        t = clock()
        for _ in range(steps):
            step()
        wait()
        times.append((clock() - t) / steps)
    return batch / min(times), batch / statistics.median(times)


def main():
    modes, name, batch, threads, seconds = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:5]), float(sys.argv[5])
    last = sys.argv[6] if len(sys.argv) > 6 else ""
    device = last if last.startswith("cuda") else "cpu"
    torch.set_num_threads(threads)
    if device != "cpu":
        torch.cuda.set_device(device if ":" in device else 0)
        torch.backends.cudnn.benchmark = True
        print("# PyTorch %s, CUDA %s, cuDNN %s, %s" % (torch.__version__, torch.version.cuda,
              torch.backends.cudnn.version(), torch.cuda.get_device_name()))
    for mode in modes.split():
        try:
            speeds = measure(mode, name, batch, seconds, device, time.thread_time if last == "cpu" else time.perf_counter)
        except (RuntimeError, NotImplementedError) as error:  # only this mode fails
            print("torch_train.py: %s %s: %s" % (name, mode, str(error).split("\n")[0]), file=sys.stderr)
            if device == "cpu":
                sys.exit(1)
            continue
        print("%s\t%.1f\t%.1f" % (mode, *speeds), flush=True)


main()
