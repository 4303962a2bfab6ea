# SPDX-License-Identifier: Apache-2.0
# Completion for zsh and fish has every option of --help with its text, words and files. If these shells are installed, they
# read it, and fish offers the words.
script=$MC_ROOT/pipelines/setup/completion.py
for p in "$MC_BUILD"/bin/mc-*; do
    name=${p##*/}
    "$script" zsh "$p" >"_$name"
    "$script" fish "$p" >"$name.fish"
    "$p" --help | sed -n '/^Options:/,$p' | grep -oE '^ {2,6}(-[a-zA-Z], )?--[a-z][a-z0-9-]*=?' | grep -oE -- '--[a-z0-9-]*=?' >options
    while read -r option; do
        grep -qE -- "^ +.*$option(}|')" "_$name" || die "$name: zsh lacks $option"
        grep -qE -- "^complete -c $name .*-l ${option//[-=]/.?}.*-d '" "$name.fish" || die "$name: fish lacks $option"
    done < <(sed 's/^--//' options)
    ! command -v zsh >zsh || zsh -fc '_arguments() { [[ $# -gt 4 && ${argv[-1]} != *[\\] ]] }; source "$1"' zsh "./_$name" || die "zsh: $name"
    ! command -v fish >fish || fish --no-execute "$name.fish" || die "fish: $name"
done
expect_words _mc-train ':(f32 tf32 bf16 f16)'
expect_words _mc-train ':(*resnet20*mlp)'
expect_words _mc-train "--data=}'*data set to train on*_files -g \"*.(mcz)\""
expect_words _mc-plot '1: :(path signature log dots plane)'
expect_words mc-plot.fish "__fish_use_subcommand -f -a 'path signature log dots plane'"
expect_words mc-train.fish "-l schedule -x -a '*cosine*'"
expect_words mc-train.fish '-s d -l data -r -F -d '
grep -qx 'complete -c mc-train -f' mc-train.fish || die 'mc-train has no operands'
! "$script" bash mc-train 2>errors && has_words errors 'Usage: completion.py zsh|fish' || die 'usage'
[ -s fish ] || exit 0
offers() { HOME=$PWD fish --no-config -c "source $1.fish; complete -C '$2'" | cut -f 1 | paste -sd ' '; }
expect_equal "$(offers mc-train 'mc-train --precision ')" 'bf16 f16 f32 tf32'
expect_equal "$(offers mc-train 'mc-train --net=resnet4')" '--net=resnet44'
expect_equal "$(offers mc-plot 'mc-plot pa')" 'path'
expect_equal "$(offers mc-align 'mc-align --mer')" '--merge'
