# SPDX-License-Identifier: Apache-2.0
"""The tables of mc-eval."""
from __future__ import annotations

from typing import Any, Iterable, Optional, Sequence

from .files import Path, replacing


class Points(list[dict[str, float]]):
    """The rows of mc-eval's table, one per point: {"t": t, "NAME.loss": mean loss, "NAME.accuracy": percent, ...}.

        rows = curve.evaluate({"test": loader})
        print(rows, rows[0]["test.loss"], rows.barrier("test.loss"))"""

    def __init__(self, rows: Iterable[dict[str, float]], chords: Sequence[float]) -> None:
        super().__init__(rows)
        self.chords = chords  # lengths between neighbours, in parameter space

    def __str__(self) -> str:
        forms = {c: "%.9g" if c == "t" else "%.4f" if c.endswith(".accuracy") else "%.7g" for c in self[0]}
        return "\n".join(["\t".join(forms)] + ["\t".join(f % r[c] for c, f in forms.items()) for r in self])

    def __repr__(self) -> str:
        return "<%d points%s>" % (len(self), "".join(", %s barrier %.4g" % (c, self.barrier(c)) for c in self[0]
                                                     if c.endswith(".loss")))

    def summary(self) -> list[dict[str, Any]]:
        """The rows of mc-eval --summary: ends, means, extremes and barrier of each data set's loss and accuracy."""
        found, t = [], [r["t"] for r in self]
        for column in list(self[0])[1:]:
            name, _, quantity = column.rpartition(".")
            v, sign = [r[column] for r in self], -1 if quantity == "accuracy" else 1
            rise = [sign * (x - (1 - u) * v[0] - u * v[-1]) for u, x in zip(t, v)]
            low, high, top = v.index(min(v)), v.index(max(v)), rise.index(max(rise))
            area, mean = sum(c * (x + y) / 2 for c, x, y in zip(self.chords, v, v[1:])), sum(v) / len(v)
            found.append({"data": name, "quantity": quantity, "first": v[0], "last": v[-1], "mean": mean,
                          "arc_mean": area / sum(self.chords) if any(self.chords) else mean, "min": v[low],
                          "min_t": t[low], "max": v[high], "max_t": t[high], "barrier": max(0., rise[top]),
                          "barrier_t": t[top]})
        return found

    def barrier(self, column: str) -> float:
        """The most that a loss rises above, or an accuracy falls below, the straight line between the ends' values."""
        return next(s["barrier"] for s in self.summary() if column == "%s.%s" % (s["data"], s["quantity"]))

    def write(self, path: Path, summary: Optional[Path] = None) -> None:
        """Writes the table and, to another path, its summary, with mc-eval's columns and number formats."""
        forms = {c: "%s" if c in ("data", "quantity") else "%.4g" if c.endswith("_t") else "%.6g"
                 for c in self.summary()[0]}
        lines = ["\t".join(forms)] + ["\t".join(f % s[c] for c, f in forms.items()) for s in self.summary()]
        for name, text in ((path, str(self)), (summary, "\n".join(lines))):
            if name is not None:
                with replacing(name, "t") as f:
                    f.write(text + "\n")
