#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Execute a notebook: notebook.py docs/notebooks/align.py writes docs/notebooks/align.ipynb with its outputs.

The source is Python. Lines "# %%" start cells of code, lines "# %% [markdown]" cells of text in comments; lines before the
first are not part of the notebook. Needs nbclient and ipykernel (pip install nbclient ipykernel)."""
import json
import os
import re
import sys
import tempfile


def cells(path):
    """[(kind, text)] of a source: kind is "code" or "markdown"."""
    with open(path, encoding="utf-8") as f:
        parts = re.split(r"^# %%( \[markdown\])?\n", f.read(), flags=re.M)[1:]
    return [("markdown", re.sub(r"^# ?", "", text.strip("\n"), flags=re.M)) if kind else ("code", text.strip("\n"))
            for kind, text in zip(parts[::2], parts[1::2])]


def main(path):
    import nbformat
    from nbclient import NotebookClient
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # on a busy machine, more threads are slower
    make = {"code": nbformat.v4.new_code_cell, "markdown": nbformat.v4.new_markdown_cell}
    notebook = nbformat.v4.new_notebook(cells=[make[kind](text, id="cell-%d" % i)
                                               for i, (kind, text) in enumerate(cells(path))])
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(notebook, resources={"metadata": {"path": folder}}, kernel_name="python3").execute()
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                         "language_info": {"name": "python"}}
    for cell in notebook.cells:
        cell.metadata = {}
    with open(os.path.splitext(path)[0] + ".ipynb", "w", encoding="utf-8") as f:
        f.write(json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
