# SPDX-License-Identifier: Apache-2.0
"""Make dataset streams from arrays, or from CIFAR's Python version, which consists of pickles.

python -m mcz.data cifar10-python DIR --split train -o train.mcz      # or cifar100-python
"""

from __future__ import annotations

import argparse
import os
import pickle
import sys
from collections.abc import Iterable, Mapping
from typing import Any, BinaryIO, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import Error, inside, need
from .files import Path
from .writing import history
from .writing import write as write_stream

__all__ = ["cifar", "write"]

AUGMENT = {"rotate": 15.0, "flip": True, "pad": 4}
CIFAR = {"mean": [0.4914, 0.4822, 0.4465], "std": [0.247, 0.243, 0.261], "augment": AUGMENT}
# name of the data set, folder, files per split, key of the labels, file and key of the class names,
# classes
SETS = {
    "cifar10-python": (
        "cifar10",
        "cifar-10-batches-py",
        {"train": [f"data_batch_{i}" for i in range(1, 6)], "test": ["test_batch"]},
        b"labels",
        "batches.meta",
        b"label_names",
        10,
    ),
    "cifar100-python": (
        "cifar100",
        "cifar-100-python",
        {"train": ["train"], "test": ["test"]},
        b"fine_labels",
        "meta",
        b"fine_label_names",
        100,
    ),
}


class _Unpickler(pickle.Unpickler):
    """Loads arrays and plain values only, because a pickle could call any function that it
    names."""

    ALLOWED: ClassVar = {
        ("numpy", "ndarray"),
        ("numpy", "dtype"),
        ("_codecs", "encode"),
        ("numpy.core.multiarray", "_reconstruct"),
        ("numpy._core.multiarray", "_reconstruct"),
    }

    def find_class(self, module: str, name: str) -> Any:
        need((module, name) in self.ALLOWED, f"unsafe pickle: calls {module}.{name}")
        return super().find_class(module, name)


def _unpickle(path: str) -> Any:
    with inside(path), open(path, "rb") as f:
        try:
            return _Unpickler(f, encoding="bytes").load()
        except Error:
            raise
        except Exception as e:  # a damaged pickle may raise any exception
            raise Error(f"not a pickle of CIFAR: {e}") from None


def cifar(
    which: str, folder: str, split: str
) -> tuple[NDArray[np.uint8], NDArray[Any], dict[str, Any]]:
    """Reads a split of CIFAR's Python version without executing code in its pickles.

        images, labels, rest = mcz.data.cifar("cifar10-python", "cifar-10-batches-py", "test")
        mcz.data.write("test.mcz", images, labels, **rest)

    which   "cifar10-python" or "cifar100-python".
    folder  that of the unpacked archive, or one that contains it.
    split   "train" or "test".

    Returns images (N,3,32,32) uint8, labels (N), and further arguments for write(). Raises
    mcz.Error if a file is not a pickle of CIFAR, OSError if it cannot be read."""
    name, inner, files, key, meta, names_key, classes = SETS[which]
    if os.path.isdir(os.path.join(folder, inner)):
        folder = os.path.join(folder, inner)
    images, labels = [], []
    for file in files[split]:
        path = os.path.join(folder, file)
        batch = _unpickle(path)
        with inside(path):
            need(
                isinstance(batch, dict) and b"data" in batch and key in batch,
                "data or labels are missing",
            )
            try:
                x, y = np.asarray(batch[b"data"]), np.asarray(batch[key])
            except ValueError as e:
                raise Error(f"its data or labels are not an array: {e}") from None
            need(
                x.dtype == np.uint8
                and x.ndim == 2
                and x.shape[1] == 3072
                and y.shape == x.shape[:1],
                f"data (n, 3072) uint8 and labels (n) expected, got {x.shape} {x.dtype} and "
                f"{y.shape}",
            )
            images.append(x.reshape(-1, 3, 32, 32))
            labels.append(y)
    names, path = None, os.path.join(folder, meta)
    if os.path.exists(path):
        found = _unpickle(path)
        with inside(path):
            try:
                names = [n.decode() for n in found[names_key]]
            except (AttributeError, KeyError, TypeError, UnicodeDecodeError):
                raise Error("class names are missing") from None
    return (
        np.concatenate(images),
        np.concatenate(labels),
        dict(CIFAR, name=name, split=split, order="publisher", classes=classes, class_names=names),
    )


def _labels(labels: ArrayLike, classes: int) -> NDArray[np.int32]:
    """The labels as int32. Error if int32 would change one, or if one is not a class."""
    labels = np.asarray(labels)
    need(labels.dtype.kind in "iuf", f"labels must be integers (got {labels.dtype})")
    wrong = np.flatnonzero(~((labels >= 0) & (labels < classes) & (labels == np.floor(labels))))
    if len(wrong):
        raise Error(
            f"label of image {wrong[0]} must be an integer from 0 to {classes - 1} (got "
            f"{labels.flat[wrong[0]]})"
        )
    return labels.astype(np.int32)


def write(
    path: Path | BinaryIO,
    images: ArrayLike,
    labels: ArrayLike,
    classes: int,
    mean: Iterable[float],
    std: Iterable[float],
    name: str = "mine",
    split: str = "train",
    order: str = "publisher",
    class_names: Iterable[str] | None = None,
    augment: Mapping[str, Any] | None = None,
    tool: str = "mcz.data",
    args: Mapping[str, Any] | None = None,
) -> str:
    """Writes a dataset stream. Returns its content id.

        mcz.data.write("mine.mcz", images, labels, classes=10,
                       mean=[.49, .48, .45], std=[.25, .24, .26])

    path         a path, "-" (standard output) or an open binary file.
    images       (N,C,H,W), uint8, or float32 in [0, 1].
    labels       (N), integers from 0 to classes - 1, of any dtype.
    mean, std    per channel, for pixels in [0, 1]: the normalisation of networks that train on this
                 data set.
    name, split, order, class_names   recorded in the stream.
    augment      {"rotate": degrees, "flip": bool, "pad": pixels}, as formats/codecs/dataset.md
                 describes; default: none.
    tool, args   the entry in the stream's history.

    Raises mcz.Error if a dtype, a shape or a label is invalid.
    """
    need(classes == int(classes), f"classes must be an integer (got {classes})")
    classes = int(classes)
    labels = _labels(labels, classes)
    images = np.asarray(images)
    need(
        images.dtype.name in ("uint8", "float32"),
        f"pixels must be uint8 or float32 (got {images.dtype})",
    )
    need(
        images.ndim == 4 and labels.shape == images.shape[:1],
        f"images (N,C,H,W) and labels (N) expected, got {images.shape} and {labels.shape}",
    )
    meta = {"name": name, "split": split, "order": order, "classes": classes}
    if class_names:
        meta["class_names"] = list(class_names)
    meta.update(
        mean=[float(v) for v in mean],
        std=[float(v) for v in std],
        augment=augment or {"rotate": 0.0, "flip": False, "pad": 0},
    )
    return write_stream(
        path,
        "dataset",
        meta,
        {"images": images, "labels": labels},
        history=history(tool, args or {}),
    )


def main() -> int:
    """python -m mcz.data"""
    p = argparse.ArgumentParser(
        prog="python -m mcz.data", description="Make a dataset stream of CIFAR's Python version."
    )
    p.add_argument("set", choices=sorted(SETS), help="data set")
    p.add_argument("folder", metavar="DIR", help="folder of the unpacked archive")
    p.add_argument("--split", choices=("train", "test"), default="train", help="default: train")
    p.add_argument(
        "-o", dest="output", metavar="FILE", default="-", help="output (default: standard output)"
    )
    o = p.parse_args()
    if o.output == "-" and sys.stdout.isatty():
        p.error("standard output is a terminal: use -o FILE")
    try:
        images, labels, rest = cifar(o.set, o.folder, o.split)
        write(
            o.output, images, labels, tool="mcz.data", args={"set": o.set, "split": o.split}, **rest
        )
    except (Error, OSError) as e:
        print(f"mcz.data: {e}", file=sys.stderr)
        return 3 if isinstance(e, Error) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
