# SPDX-License-Identifier: Apache-2.0
# Scripts run from any folder, by a symbolic link, a relative path or a path with spaces, with CDPATH set. All source
# environment.sh first, except gpus.sh, which becomes the user's command, and scripts that make starts.
fixture connected
mkdir -p 'a tree' links elsewhere
cp -r "$MC_ROOT/pipelines" 'a tree'
ln -s "$MC_BUILD" 'a tree/build'
ln -s '../a tree/pipelines/'{{demo,setup/man,setup/fetch,setup/install-packages,cluster/slurm}.sh,paper/{compare.py,pages.py,publish}} links
echo 'epochs=2 curve_epochs=1 permutation_epochs=20 points=3 pam=default train_images=512' >out/length
export CDPATH=.:/ THREADS=1
cd elsewhere

# everywhere SCRIPT ARGUMENT...: prints the same by its absolute path, a relative one, a link's and one that PATH finds
everywhere() {
    local by script=$1
    shift
    "$MC_ROOT/pipelines/$script" "$@" >expected
    for by in "../a tree/pipelines/$script" "$TMP/a tree/pipelines/$script" "../links/${script##*/}" "${script##*/}"; do
        PATH=$TMP/links:$PATH "$by" "$@" >got || die "$by: status $?"
        same got expected
    done
}
everywhere paper/pages.py tables -f tsv accuracy ../out
everywhere paper/compare.py cells -f tsv "$MC_ROOT/pipelines/paper/published"
everywhere paper/pages.py results pages
everywhere setup/man.sh "$MC_BUILD/bin/mc-info"
everywhere setup/fetch.sh -h
everywhere setup/install-packages.sh -h
everywhere paper/publish tables ../out kept
# mc-align finds the programs in its folder
ln -s "$MC_BUILD/bin/mc-align" ../links
PATH=/usr/bin:/bin ../links/mc-align -t 1 -d ../out/train.mcz ../out/net-1.mcz ../out/net-2.mcz -o aligned.mcz
same aligned.mcz ../out/1-2/b-aligned.mcz
for by in '../a tree/pipelines/demo.sh' ../links/demo.sh; do
    MAKEFLAGS=n "$by" demo >plan 2>errors || true
    grep -q -- '-o demo/net-1.mcz' plan || die "$by: $(cat plan errors)"
done

cd "$MC_ROOT"
n=0
while read -r script; do
    [[ $script != */gpus.sh && $script != pipelines/include/* && $(head -n 1 "$script") =~ ^'#!'.*sh$ ]] || continue
    grep -qE '^\. .*/(environment\.sh|lib\.bash|device\.bash)"' "$script" || die "$script does not read environment.sh"
    n=$((n + 1))
done < <(find .ci pipelines tests -type f -perm -u+x)
[ $n -ge 30 ] || die "only $n scripts"
