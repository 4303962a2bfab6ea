# SPDX-License-Identifier: Apache-2.0
# docs/reference/python.md has every public name of the Python package, with an example; if not, run `make reference`.
"$MC_ROOT/pipelines/setup/reference_python.py" >python.md
diff "$MC_ROOT/docs/reference/python.md" python.md || die "docs/reference/python.md is out of date: run make reference"
for name in mcz.read mcz.torch.align Curve.train mcz.symmetry.Groups Points.barrier mcz.groups.rows mcz.data.cifar; do
    grep -qxE "###+ $name" python.md || die "$name is missing"
done
# a function without an example is refused
mkdir -p copy/pipelines/setup copy/formats
cp "$MC_ROOT/pipelines/setup/reference_python.py" copy/pipelines/setup
cp -R "$MC_ROOT/formats/python" copy/formats
sed -i '/^        mcz.check("p.mcz")$/d' copy/formats/python/mcz/programs.py
fails 1 'reference_python: mcz.check*no example' copy/pipelines/setup/reference_python.py
