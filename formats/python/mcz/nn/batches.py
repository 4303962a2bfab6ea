# SPDX-License-Identifier: Apache-2.0
"""Batches of a loader, and the loss and accuracy of a network's output for one. A batch is one of
these:

(x, y)          a tuple or list of two: the network's input and its labels
{argument: x}   a dictionary, as collators of Hugging Face return; its "labels", if any, are y and
                not an input
x, (x,)         an input without labels: a tensor, or alone in a tuple or list

An input x is a tensor, a tuple or list of arguments, or a dictionary of them: ((x1, x2), y),
({argument: x}, y). If a function needs no labels and the network has one argument, the first entry
of a tuple of any length is x. Batches may have different lengths and shapes."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn import functional as F

from ..errors import Error, need, warn
from .inputs import accepts, outputs, positional

Batches = Iterable[Any]
Loss = Callable[[Any, Any], torch.Tensor]
IGNORED = -100  # the label that cross_entropy ignores
BATCHES = (
    "batches (x, y) of inputs and labels expected (several inputs: ((x1, x2), y) or ({argument: "
    "x}, y)), or dictionaries "
    '{argument: x, "labels": y}'
)


# ---- inputs and labels ---------------------------------------------------------------------------


def loader_of(loader: Any) -> Batches:
    """The loader, unless it is something else in its place."""
    order = "(the order is a, b, loader, groups)"
    need(
        not hasattr(loader, "taps") and not isinstance(loader, (str, os.PathLike, Mapping)),
        f"a loader of batches expected, got {type(loader).__name__} {order}",
    )
    need(
        not isinstance(loader, torch.Tensor),
        "a loader of batches expected, got a tensor (one batch x: [x])",
    )
    need(
        hasattr(loader, "__iter__") or hasattr(loader, "__getitem__"),
        f"a loader of batches expected, got {type(loader).__name__}",
    )
    batches: Batches = loader
    return batches


def expect_repeatable(loader: Any) -> None:
    """Raises Error if the loader's batches can be read only once."""
    need(
        not hasattr(loader, "__next__"),
        "a loader that can be read again expected, got an iterator (list(loader))",
    )


def shown(items: Iterable[Any], text: str) -> Iterable[Any]:
    """The items, with a progress bar of tqdm if `text` and if it is installed."""
    try:
        with warnings.catch_warnings():  # in a notebook without ipywidgets
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm
        bar: Iterable[Any] = tqdm(items, desc=text, leave=False, disable=None) if text else items
        return bar
    except ImportError:
        return items


def read(loader: Batches, text: str = "") -> Iterator[Any]:
    """The batches of a loader, which must have one. If `text`, shows progress."""
    batch = None
    for batch in shown(loader_of(loader), text):
        yield batch
    once = " (an iterator can be read only once: give a DataLoader, or a list)" * hasattr(
        loader, "__next__"
    )
    need(batch is not None, "the loader yields no batches" + once)


def to(batch: Any, device: torch.device) -> Any:
    """The batch with its tensors on a device."""
    if isinstance(batch, Mapping):
        return {k: to(v, device) for k, v in batch.items()}
    if isinstance(batch, (tuple, list)):
        return [to(v, device) for v in batch]
    return batch.to(device) if isinstance(batch, torch.Tensor) else batch


def input_of(net: nn.Module, batch: Any, example: Any = None) -> Any:
    """A network's input in a batch. example: that of derived groups. If it has several arguments,
    a batch of as many tensors is the input, and if it has "labels", so has the input. Raises Error
    for a tuple of more than two if the network could read more than the first."""
    if isinstance(batch, Mapping):
        labelled = isinstance(example, Mapping) and "labels" in example
        return {k: v for k, v in batch.items() if labelled or k != "labels"}
    if not isinstance(batch, (tuple, list)):
        return batch
    several = isinstance(example, (tuple, list))
    nested = isinstance(batch[0], (tuple, list, Mapping))
    if several and not nested and len(batch) == len(example):
        return batch
    need(several or nested or len(batch) < 3 or positional(net) == 1, BATCHES)
    return batch[0]


def labelled(net: nn.Module, batch: Any, loss: Loss) -> tuple[Any, Any]:
    """(x, y) of a batch. The "labels" of a dictionary remain in x if the network's forward has an
    argument of this name, for the network's own loss. Only your own loss may go without labels."""
    if isinstance(batch, Mapping):
        x, y = batch if accepts(net, "labels") else input_of(net, batch), batch.get("labels")
    else:
        need(isinstance(batch, (tuple, list)) and len(batch) == 2, BATCHES)
        x, y = batch
    need(isinstance(y, torch.Tensor) or loss is not F.cross_entropy, BATCHES)
    return x, y


def first_tensor(x: Any) -> torch.Tensor:
    """The first tensor of an input that has a batch axis."""
    leaves = torch.utils._pytree.tree_leaves(x)
    found = [v for v in leaves if isinstance(v, torch.Tensor) and v.dim()]
    need(
        found,
        "the loader must yield tensors (got {})".format(
            ", ".join(type(v).__name__ for v in leaves[:1])
        ),
    )
    return found[0]


# ---- loss and accuracy ---------------------------------------------------------------------------


class Measured(NamedTuple):
    """The loss of a batch, a mean, and its weight in the mean of several batches: the number of
    labels that count, or of inputs for your own loss. correct: the number of `labels` that the
    network predicts, nan if y are not classes. inputs: the number of inputs."""

    loss: torch.Tensor
    weight: int
    correct: float
    labels: int
    inputs: int


def _are_classes(logits: Any, y: Any) -> bool:
    """True if y are labels (N, ...), integers, of logits (N, K, ...)."""
    return (
        isinstance(logits, torch.Tensor)
        and isinstance(y, torch.Tensor)
        and logits.dim() > 1 < logits.shape[1]
        and (
            y.shape == logits.shape[:1] + logits.shape[2:]
            and not y.is_floating_point()
            and not y.is_complex()
        )
    )


def _integers(y: Any) -> Any:
    """Labels that are integers as int64: of a narrower type, such as uint8, -100 is another number.
    Others are unchanged."""
    if not isinstance(y, torch.Tensor) or y.is_floating_point() or y.is_complex():
        return y
    return y.long()


def _setting(loss: Loss, name: str) -> Any:
    """A setting of a loss: of a module, or of a partial() of a function."""
    return getattr(loss, "keywords", {}).get(name, getattr(loss, name, None))


def _own(output: Any) -> Any:
    """The loss in a network's output, or None."""
    return output.get("loss") if isinstance(output, Mapping) else getattr(output, "loss", None)


def _wide(x: torch.Tensor) -> torch.Tensor:
    """A tensor in float32 or wider: bfloat16 has 8 bits, too few for a loss."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


def measure(output: Any, x: Any, y: Any, loss: Loss) -> Measured:
    """The loss and accuracy of a network's output for the input x and labels y of labelled().

    The default loss is cross entropy of the logits, or the loss in the output if the network got
    the labels. It knows best how labels are shifted, so then only labels (N) have an accuracy.
    Of several outputs, the first are the logits. Another output with another number of classes may
    fit the labels too. Then the default loss warns, and your own loss gets no accuracy. Raises
    Error if the labels do not fit the default loss."""
    several = outputs(output)
    logits: Any = next(iter(several), None)
    theirs: Any = None
    classes, default = _are_classes(logits, y), loss is F.cross_entropy
    others = [v for v in several[1:] if _are_classes(v, y) and v.shape[1] != logits.shape[1]]
    if classes and others and default:
        warn(
            f"the first of several outputs, with {logits.shape[1]} classes, is taken for the "
            f"logits (another has {others[0].shape[1]})"
        )
    classes = classes and (default or not others)
    if default and isinstance(x, Mapping) and "labels" in x and x["labels"] is y:
        theirs = _own(output)
        classes = classes and (theirs is None or y.dim() == 1)
    if default and theirs is None and not classes:
        need(
            isinstance(logits, torch.Tensor),
            "logits expected, got {} (your own loss= reads any output)".format(
                "a dictionary of {}".format(", ".join(map(str, output)))
                if isinstance(output, Mapping)
                else type(logits).__name__
            ),
        )
        raise Error(
            "labels {} of integers expected, got {} of {} "
            "(other labels need your own loss=)".format(
                tuple(logits.shape[:1] + logits.shape[2:]),
                tuple(y.shape),
                str(y.dtype)[len("torch.") :],
            )
        )
    numbers, n, wrong = _integers(y), 0, []  # type: Any, int, Any
    if classes or default:
        count = numbers != IGNORED
        if _setting(loss, "ignore_index") is not None:
            count &= numbers != _setting(loss, "ignore_index")
        n = int(count.sum())
    if classes:
        wrong = numbers[count & ((numbers < 0) | (numbers >= logits.shape[1]))]
        classes = default or not len(wrong)  # else such as numbers of persons
    inputs = len(first_tensor((x, y)))
    if not default:
        need(
            _setting(loss, "reduction") != "sum",
            'loss must be a mean over the inputs (got reduction="sum")',
        )
        value, weight = loss(output, y), inputs
        need(
            isinstance(value, torch.Tensor) and value.numel() == 1,
            "loss must return a tensor of one number (got {})".format(
                f"shape {tuple(value.shape)}"
                if isinstance(value, torch.Tensor)
                else type(value).__name__
            ),
        )
    else:
        if theirs is None:
            need(
                not len(wrong),
                f"labels from 0 to {logits.shape[1] - 1} expected, or -100 (got "
                f"{wrong[:1].tolist()})",
            )
            some = logits[:1].detach()
            if bool((some >= 0).all()) and torch.allclose(some.sum(1), torch.ones_like(some[:, 0])):
                warn("the outputs seem to be probabilities: cross entropy expects logits")
        weight = n
        if not n:  # the mean over no labels is not a number
            value = logits.sum() * 0
        else:
            value = F.cross_entropy(_wide(logits), numbers) if theirs is None else theirs
    correct = int(((logits.argmax(1) == numbers) & count).sum()) if classes else math.nan
    return Measured(value, weight, correct, n, inputs)
