# SPDX-License-Identifier: Apache-2.0
"""The tables of mc-eval."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .errors import need
from .files import Path, replacing

__all__ = ["Points"]


class Points(list[dict[str, float]]):
    """The rows of mc-eval's table, which Curve.evaluate returns. A list with one dictionary per
    point: {"t": t, "NAME.loss": mean loss, "NAME.accuracy": percent, ...} for each data set NAME.

        rows = mcz.torch.Curve(a, b).evaluate({"test": test}, points=5)
        print(rows)                                       # the table
        print(rows[0]["test.loss"], [r["test.accuracy"] for r in rows])

    chords  the lengths in parameter space between neighbouring points."""

    def __init__(self, rows: Iterable[dict[str, float]], chords: Sequence[float]) -> None:
        super().__init__(rows)
        self.chords = chords  # lengths between neighbours, in parameter space

    def __str__(self) -> str:
        forms = {
            c: "%.9g" if c == "t" else "%.4f" if c.endswith(".accuracy") else "%.7g"
            for c in self[0]
        }
        return "\n".join(
            ["\t".join(forms)] + ["\t".join(f % r[c] for c, f in forms.items()) for r in self]
        )

    def __repr__(self) -> str:
        return "<{} points{}>".format(
            len(self),
            "".join(f", {c} barrier {self.barrier(c):.4g}" for c in self[0] if c.endswith(".loss")),
        )

    def summary(self) -> list[dict[str, Any]]:
        """The rows of mc-eval --summary: ends, means, extremes and barrier of each data set's loss
        and accuracy.

            rows.summary()[0]["mean"]

        Returns a list of dictionaries with the keys data, quantity, first, last, mean, arc_mean,
        min, min_t, max, max_t, barrier and barrier_t."""
        found, t = [], [r["t"] for r in self]
        for column in list(self[0])[1:]:
            name, _, quantity = column.rpartition(".")
            v, sign = [r[column] for r in self], -1 if quantity == "accuracy" else 1
            rise = [sign * (x - (1 - u) * v[0] - u * v[-1]) for u, x in zip(t, v)]
            low, high, top = v.index(min(v)), v.index(max(v)), rise.index(max(rise))
            area, mean = (
                sum(c * (x + y) / 2 for c, x, y in zip(self.chords, v, v[1:])),
                sum(v) / len(v),
            )
            found.append(
                {
                    "data": name,
                    "quantity": quantity,
                    "first": v[0],
                    "last": v[-1],
                    "mean": mean,
                    "arc_mean": area / sum(self.chords) if any(self.chords) else mean,
                    "min": v[low],
                    "min_t": t[low],
                    "max": v[high],
                    "max_t": t[high],
                    "barrier": max(0.0, rise[top]),
                    "barrier_t": t[top],
                }
            )
        return found

    def barrier(self, column: str) -> float:
        """The most that a loss rises above, or an accuracy falls below, the straight line between
        the ends' values.

            rows.barrier("test.accuracy")

        Raises mcz.Error unless column is "NAME.loss" or "NAME.accuracy" of a data set."""
        found = {"{}.{}".format(s["data"], s["quantity"]): s["barrier"] for s in self.summary()}
        need(
            column in found,
            'the table has no column "{}" (one of: {})'.format(column, ", ".join(found)),
        )
        return float(found[column])

    def write(self, path: Path, summary: Path | None = None) -> None:
        """Writes the table and, to another path, its summary, with mc-eval's columns and number
        formats.

            rows.write("line.tsv", summary="line.summary.tsv")

        If this raises OSError, the path is unchanged."""
        forms = {
            c: "%s" if c in ("data", "quantity") else "%.4g" if c.endswith("_t") else "%.6g"
            for c in self.summary()[0]
        }
        lines = ["\t".join(forms)] + [
            "\t".join(f % s[c] for c, f in forms.items()) for s in self.summary()
        ]
        for name, text in ((path, str(self)), (summary, "\n".join(lines))):
            if name is not None:
                with replacing(name, "t") as f:
                    f.write(text + "\n")
