# SPDX-License-Identifier: Apache-2.0
# The experiment in docs/guides/own-experiments.md runs as printed, and the ablations rebuild only their stages.
ln -s "$MC_ROOT/pipelines" "$MC_ROOT/formats" .
ln -s "$MC_BUILD" build
sed -n '/^```make$/,/^```$/p' "$MC_ROOT/docs/guides/own-experiments.md" | sed '1d;$d' >sizes.mk
[ "$(grep -c . sizes.mk)" -le 15 ] || die 'more than 15 lines'
stub_plot
settings=(BIN="$bin" V=1 THREADS=1 NET=mlp:bn,8 TEST_IMAGES=50 POINTS=3)
# the page's commands, with a smaller network and fewer images
mapfile -t commands < <(sed -n '/^```sh$/,/^```$/p' "$MC_ROOT/docs/guides/own-experiments.md" | grep '^make ')
[ ${#commands[@]} = 5 ] || die "${#commands[@]} commands"
for c in "${commands[@]}"; do
    eval "$c \"\${settings[@]}\"" >log 2>errors || die "$c: $(cat errors)"
    jobs=$(grep -o '^mc-[a-z]*\|^formats/python/[a-z_.]*' log | sort -u | paste -sd ' ')
    case $c in
    *ALIGN=*) [[ $jobs == formats*mc-bezier* && $jobs != *mc-train* ]] ;;
    *CORR_FLAGS=*) [[ $jobs == 'mc-acts mc-bezier mc-corr mc-eval mc-hungarian mc-permute mc-plot' ]] ;;
    *ACTS_FLAGS=*) [[ $jobs == 'mc-acts '* && $jobs != *mc-train* ]] ;;
    *sizes.mk*) expect_equal "$(cut -f 1 out/1-2/sizes.tsv | paste -sd ' ')" 'path line-unaligned line-by-100 line-by-500 line-by-2000' ;;
    esac || die "$c: $jobs"
done
make -f sizes.mk OUT=out SIZES='500 100' >log
expect_equal "$(cut -f 1 out/1-2/sizes.tsv | paste -sd ' ')" 'path line-unaligned line-by-500 line-by-100'
make -f sizes.mk help | grep -q '^SIZES *100 500 2000 *numbers of images to align by' || die "$(make -f sizes.mk help)"
