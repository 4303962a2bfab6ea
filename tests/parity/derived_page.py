# SPDX-License-Identifier: Apache-2.0
"""Prints docs/reference/derived-groups.md from the table of `derived_groups.py survey`:

    derived_page.py TABLE > PAGE

The table is docs/reference/derived-groups.tsv, the page derived-groups.md in the same folder."""
import sys

SETS = {  # set: title and first paragraph
    "kinds": ("Kinds of networks", "Networks that public reports name. `graph` says whether `mcz.torch.export` can export them "
              "[as a graph](modules.md) too."),
    "timm": ("Models of timm", "The images have the size of each model's default configuration."),
    "more": ("Further models", "Segmentation, detection and video of torchvision, further models of transformers, adapters of "
             "peft, models of diffusers, graph networks and recurrent networks.")}


def page(path):
    """Prints the page of derived groups from a table of the survey."""
    with open(path) as f:
        versions, header, *lines = f.read().splitlines()
    rows = [dict(zip(header.split("\t"), line.split("\t"))) for line in lines]
    refused = [r for r in rows if r["groups"] == "refused"]
    empty = [r for r in rows if r["groups"] == "none"]
    right = [r for r in rows if r not in refused and r not in empty]
    assert not [r for r in rows if r["groups"] == "raises"], "a network of the table failed"
    seconds = sorted(float(r["seconds"]) for r in rows)
    worst = max(float(r[k]) for r in right for k in ("difference", "other size") if r[k])
    print("""# Derived groups of %d networks

`mcz.torch.groups` was run on %d kinds of networks that public reports name, on %d models of timm and on %d further models. It
found groups in %d, nothing to move in %d, and refused %d, with the reasons below. No group changed a function. After random
permutations, outputs in float64 differ by %.1e or less, relative to the largest, for batches of 2 and 7. %d networks also run on
longer or wider inputs, with the same result. `groups` took less than 10 seconds for %d networks. The median was %.1f seconds, the
longest time %.0f seconds.

```sh
PYTHONPATH=formats/python python tests/parity/derived_groups.py survey table.tsv kinds timm more
python tests/parity/derived_page.py table.tsv
```

The versions: %s.
Each run had one core of a shared machine.

- `2 x 64` means two groups of 64 units. `12 x 8 in 3` means 12 groups of 8 units, each in a unit of a group of 3, such as a head.
- `fixed` counts the axes of parameters that stay in place, by the operation that fixes them.
- `difference` is the largest of the outputs' differences. The second number is that of a longer or wider input.
- `seconds` is the processor time of `groups`, with its check.

Networks of `transformers` have small random configurations. Images are 32 or 64 pixels wide unless a network requires more.""" % (
        len(rows), *(sum(r["set"] == s for r in rows) for s in SETS), len(right), len(empty), len(refused), worst,
        sum(r["other size"] != "" for r in right), sum(s < 10 for s in seconds), seconds[len(seconds) // 2], seconds[-1],
        versions[2:]))
    for name, (title, text) in SETS.items():
        columns = ["network"] + ["graph"] * (name == "kinds") + ["groups", "units", "fixed", "difference", "seconds"]
        print("\n## %s\n\n%s\n\n| %s |\n|%s" % (title, text, " | ".join(columns), " --- |" * len(columns)))
        for r in [r for r in rows if r["set"] == name and r not in refused]:
            r = {**r, "difference": ", ".join(filter(None, (r["difference"], r["other size"])))}
            print("| %s |" % " | ".join(r[k].replace("|", "\\|") for k in columns))
    print("\n## Refused\n\n| network | reason |\n| --- | --- |")
    for r in refused:
        print("| %s | %s |" % (r["network"], r["fixed"].replace("|", "\\|")))


if __name__ == "__main__":
    page(*sys.argv[1:])
