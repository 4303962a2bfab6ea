# SPDX-License-Identifier: Apache-2.0
# An installation does not need the source tree: programs, manual pages, completion and scripts work alone.
# Install a copy, without the programs of tests: the build folder must not change.
mkdir build
for f in flags commit cuda-flags libmc.a libcommon kernels formats tools bin man lib share; do
    [ ! -e "$MC_BUILD/$f" ] || cp -a "$MC_BUILD/$f" build
done
[ -e build/lib/libmc-cuda.so ] || set -- NVCC=
make -s -C "$MC_ROOT" FLAGS="$(<build/flags)" -o "$PWD/build/cuda-flags" BUILD="$PWD/build" "$@" install DESTDIR="$PWD/stage" PREFIX=/opt/mc >made
mv stage/opt/mc moved # found relative to the program, in any folder

PATH=$PWD/moved/bin:$PATH
printf 't\ttest.loss\ttest.accuracy\n0\t1\t50\n1\t1\t50\n' >table.tsv
expect_equal "$(command -v mc-plot)" "$PWD/moved/bin/mc-plot"
mc-plot path table.tsv -o x.svg
grep -q '<svg' x.svg
for source in "$MC_ROOT"/tools/mc-*; do
    name=$(basename "${source%.*}")
    [ -x "moved/bin/$name" ] || die "$name is not installed"
    page=moved/share/man/man1/$name.1
    # "mc-x \- does this", which apropos reads; the option lines and examples
    grep -q "^$name \\\\- [A-Z]" "$page" || die "$page lacks the purpose of $name"
    grep -q '\\fB\\-\\-version' "$page" && grep -q '^\.SH EXAMPLES' "$page" || die "$page lacks options or examples"
    grep -qx "#compdef $name" "moved/share/zsh/site-functions/_$name" || die "$name has no completion for zsh"
    grep -q "^complete -c $name .*-l version" "moved/share/fish/vendor_completions.d/$name.fish" || die "$name has none for fish"
    grep -q "_mc_complete" "moved/share/bash-completion/completions/$name" || die "$name has no completion"
done
# the pipelines find the programs installed with them
unset MC_BUILD
PATH=/usr/bin:/bin
make -f moved/share/mc/connect.mk TRAIN_IMAGES=64 NET=mlp:8 EPOCHS=0 THREADS=1 OUT=out out/1-2/b-aligned.mcz >log
moved/bin/mc-align -t 1 -d out/train.mcz out/net-1.mcz out/net-2.mcz -o aligned.mcz
cmp out/1-2/b-aligned.mcz aligned.mcz
moved/share/mc/paper/pages.py -h >usage
mkdir paper
moved/share/mc/paper/compare.py cells paper >usage
moved/share/mc/cluster/gpus.sh -h >usage
moved/share/mc/example_assign.py "$MC_ROOT/formats/samples/good-matrices.mcz" | moved/bin/mc-info --check

for f in "$MC_ROOT"/formats/{exchange/maps/*.map,python/example_assign.py,samples/example_net.json}; do
    cmp "$f" "moved/share/mc/${f##*/}"
done
for f in connect.mk include/{stages.mk,check-settings} tables/tables cluster/slurm.sh paper/{paper.mk,paper.tsv,claims.tsv,{cells,compare,pages,tsv}.py}; do
    cmp "$MC_ROOT/pipelines/$f" "moved/share/mc/$f"
done
diff -r -x __pycache__ "$MC_ROOT/formats/python/mcz" moved/share/mc/mcz
find moved/share/mc/mcz -name '*.py' -printf '%h\n' | sort -u | while read -r folder; do
    folder=${folder#moved/share/mc/}
    grep -q "^packages = .*\"${folder//\//.}\"" "$MC_ROOT/formats/python/pyproject.toml" || die "pip leaves out $folder"
done
find moved/share/mc/mcz -type f ! -name '*.py' ! -name '*.pyc' -printf '%P\n' | sort >data
expect_equal "package-data = {mcz = [$(sed 's/.*/"&"/' data | paste -sd , | sed 's/,/, /g')]}" "$(grep '^package-data' "$MC_ROOT/formats/python/pyproject.toml")"
