# SPDX-License-Identifier: Apache-2.0
# docs/notebooks/align.ipynb has the cells of align.py, executed, in less than 100 kB; if not, run `make notebook`.
PYTHONPATH=$MC_ROOT/pipelines/setup:$PYTHONPATH py "$MC_ROOT" <<'END'
import notebook
text = open(sys.argv[1] + "/docs/notebooks/align.ipynb").read()
stored = json.loads(text)["cells"]
assert [(c["cell_type"], c["source"]) for c in stored] == notebook.cells(sys.argv[1] + "/docs/notebooks/align.py"), "run `make notebook`"
code = [c for c in stored if c["cell_type"] == "code"]
assert [c["execution_count"] for c in code] == list(range(1, len(code) + 1)) and len(code) > 5
outputs = [o for c in code for o in c["outputs"]]
assert not any(o["output_type"] == "error" for o in outputs)
assert sum("image/png" in o.get("data", {}) for o in outputs) == 2, "the two pictures"
assert len(text) < 100000 and "site-packages" not in text and "/tmp/" not in text
END
