# SPDX-License-Identifier: Apache-2.0
# tests/run prints why a test is skipped. need_torch compares versions as numbers.
mkdir -p tree/tests/cli/new tree/pipelines/include torch build/bin
cp "$MC_ROOT/tests/run" tree/tests
cp -r "$MC_ROOT/tests/cli/lib" tree/tests/cli
cp "$MC_ROOT/pipelines/include/environment.sh" tree/pipelines/include
echo '__version__ = "2.10.1+cpu"' >torch/__init__.py
cat >python <<END
#!/bin/sh
PYTHONPATH=$PWD exec /usr/bin/python3 "\$@"
END
chmod +x python
echo 'need_torch 2.4 json' >tree/tests/cli/new/a.sh
echo 'need_torch 2.11' >tree/tests/cli/new/b.sh
echo 'need_torch 2.4 no_such_module' >tree/tests/cli/new/c.sh
echo 'exit 77' >tree/tests/cli/new/d.sh
ONLY='' MC_UNDER='' PYTHON=$PWD/python tree/tests/run -j 1 build cli >output
diff - output <<'END'
ok      cli/new/a (1)
ok      cli/new/b (0, 1 skipped: PyTorch 2.11 is required (got 2.10.1+cpu))
ok      cli/new/c (0, 1 skipped: no_such_module is required (No module named 'no_such_module'))
ok      cli/new/d (0, 1 skipped)
3 skipped
1 passed, 0 failed
END
