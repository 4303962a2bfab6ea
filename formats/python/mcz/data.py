# SPDX-License-Identifier: Apache-2.0
"""Data sets: CIFAR in its Python form, which C does not read because it is pickles, and any arrays.

    python -m mcz.data cifar10-python DIR --split train -o train.mcz      # or cifar100-python
    mcz.data.write("train.mcz", images, labels, classes=10, mean=[...], std=[...])
"""
import argparse
import os
import pickle
import sys

import numpy as np

import mcz
from mcz.errors import Error, inside, need

AUGMENT = {"rotate": 15.0, "flip": True, "pad": 4}
CIFAR = {"mean": [.4914, .4822, .4465], "std": [.247, .243, .261], "augment": AUGMENT}
#         folder, files of the splits, key of the labels, file and key of the classes' names
SETS = {"cifar10-python": ("cifar10", "cifar-10-batches-py", {"train": ["data_batch_%d" % i for i in range(1, 6)],
                                                              "test": ["test_batch"]},
                           b"labels", "batches.meta", b"label_names", 10),
        "cifar100-python": ("cifar100", "cifar-100-python", {"train": ["train"], "test": ["test"]},
                            b"fine_labels", "meta", b"fine_label_names", 100)}


class _Unpickler(pickle.Unpickler):
    """Of arrays and plain values: a pickle may call anything else that it names."""

    ALLOWED = {("numpy", "ndarray"), ("numpy", "dtype"), ("_codecs", "encode"),
               ("numpy.core.multiarray", "_reconstruct"), ("numpy._core.multiarray", "_reconstruct")}

    def find_class(self, module, name):
        need((module, name) in self.ALLOWED, "names %s.%s, which no CIFAR file does" % (module, name))
        return super().find_class(module, name)


def _unpickle(path):
    with inside(path), open(path, "rb") as f:
        try:
            return _Unpickler(f, encoding="bytes").load()
        except Error:
            raise
        except Exception as e:  # a pickle that is damaged may fail in any way
            raise Error("is no pickle of CIFAR: %s" % e) from None


def cifar(which, folder, split):
    """(images, labels, the rest of write()'s arguments)"""
    name, inner, files, key, meta, names_key, classes = SETS[which]
    if os.path.isdir(os.path.join(folder, inner)):
        folder = os.path.join(folder, inner)
    images, labels = [], []
    for file in files[split]:
        path = os.path.join(folder, file)
        batch = _unpickle(path)
        with inside(path):
            need(isinstance(batch, dict) and b"data" in batch and key in batch, "holds no data and labels")
            try:
                x, y = np.asarray(batch[b"data"]), np.asarray(batch[key])
            except ValueError as e:
                raise Error("its data or labels are not an array: %s" % e) from None
            need(x.dtype == np.uint8 and x.ndim == 2 and x.shape[1] == 3072 and y.shape == x.shape[:1],
                 "holds data %s %s and labels %s, not (n, 3072) uint8 and (n)" % (x.dtype, x.shape, y.shape))
            images.append(x.reshape(-1, 3, 32, 32))
            labels.append(y)
    names, path = None, os.path.join(folder, meta)
    if os.path.exists(path):
        found = _unpickle(path)
        with inside(path):
            try:
                names = [n.decode() for n in found[names_key]]
            except (AttributeError, KeyError, TypeError, UnicodeDecodeError):
                raise Error("holds no class names") from None
    return np.concatenate(images), np.concatenate(labels), dict(
        CIFAR, name=name, split=split, order="publisher", classes=classes, class_names=names)


def _labels(labels, classes):
    """The labels as int32, each unchanged."""
    labels = np.asarray(labels)
    need(labels.dtype.kind in "iuf", "labels are whole numbers, not %s" % labels.dtype)
    wrong = np.flatnonzero(~((labels >= 0) & (labels < classes) & (labels == np.floor(labels))))
    if len(wrong):
        raise Error("image %d has label %s (labels are whole numbers from 0 to %d)" %
                    (wrong[0], labels.flat[wrong[0]], classes - 1))
    return labels.astype(np.int32)


def write(path, images, labels, classes, mean, std, name="mine", split="train", order="publisher", class_names=None,
          augment=None, tool="mcz.data", args=None):
    """A dataset stream of images (N,C,H,W), uint8 or float32 in [0, 1], and labels (N), whole numbers of any dtype; mean
    and std are what a network for it normalises by. augment: what mc-train does to a batch (none). Its content id."""
    need(classes == int(classes), "classes is %s, not a whole number" % classes)
    classes = int(classes)
    labels = _labels(labels, classes)
    images = np.asarray(images)
    need(images.dtype.name in ("uint8", "float32"), "pixels are uint8 or float32, not %s" % images.dtype)
    need(images.ndim == 4 and labels.shape == images.shape[:1], "images %s and labels %s are not (N,C,H,W) and (N)" %
         (images.shape, labels.shape))
    meta = {"name": name, "split": split, "order": order, "classes": classes}
    if class_names:
        meta["class_names"] = list(class_names)
    meta.update(mean=[float(v) for v in mean], std=[float(v) for v in std],
                augment=augment or {"rotate": 0.0, "flip": False, "pad": 0})
    return mcz.write(path, "dataset", meta, {"images": images, "labels": labels},
                     history=mcz.history(tool, args or {}))


def main():
    p = argparse.ArgumentParser(prog="python -m mcz.data", description="Make a dataset stream.")
    p.add_argument("set", choices=sorted(SETS), help="CIFAR as its publisher packs it for Python")
    p.add_argument("folder", metavar="DIR", help="where it was unpacked")
    p.add_argument("--split", choices=("train", "test"), default="train")
    p.add_argument("-o", dest="output", metavar="FILE", default="-", help="(default: standard output)")
    o = p.parse_args()
    if o.output == "-" and sys.stdout.isatty():
        p.error("a stream is nothing for a terminal: give -o FILE")
    try:
        images, labels, rest = cifar(o.set, o.folder, o.split)
        write(o.output, images, labels, tool="mcz.data", args={"set": o.set, "split": o.split}, **rest)
    except (Error, OSError) as e:
        print("mcz.data: %s" % e, file=sys.stderr)
        return 3 if isinstance(e, Error) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
