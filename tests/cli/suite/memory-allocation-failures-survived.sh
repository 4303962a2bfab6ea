# SPDX-License-Identifier: Apache-2.0
# Where one allocation fails, or all from one on, a program ends with status 1 and one line, and the old file stays; or it does
# its work all the same. A share of what tests/torture/memory tries: of each program one command, of mc-data most.
[ -z "$MC_UNDER" ] || exit 77 # they have allocators of their own
set +e
. "$MC_ROOT/tests/memory/inject.bash"
make_inputs || die 'the inputs cannot be made'
list_commands
declare -A seen
for k in "${!lines[@]}"; do
    program=${lines[k]%% *} parts=3
    case ${lines[k]} in
    *tiny-imagenet* | *--no-shuffle* | 'mc-plot path'*) continue ;;
    mc-data*) parts=8 ;;
    *--signature* | *safetensors*) ;; # texts
    *activations.mcz*) ;; # starts oneDNN
    *) [ -z "${seen[$program]:-}" ] || continue ;;
    esac
    seen[$program]=1
    learn "$k" || die 'a command fails by itself'
    # the second is argp's, the last ones are of what is printed
    judge "$k" own 2 0
    judge "$k" own $((own[k] - 3)) 0
    for ((i = 3; i <= own[k]; i += own[k] / parts)); do judge "$k" own $i $((i % 2)); done
    # a C++ library's are thrown, and a decoder calls its own damage
    for ((i = foreign[k] / 3; i > 0 && i <= foreign[k]; i += foreign[k] / 3)); do judge "$k" library $i 0; done
    # oneDNN does not check all of its own
    [[ ${lines[k]} != *activations.mcz* ]] || for ((i = 1; i <= foreign[k]; i++)); do judge "$k" library $i 0; done
done >found
expect_equal "${#seen[@]}" 16
echo "$attempts attempts" >&2
[ $faults = 0 ] || die "$faults of $attempts: $(cat found)"
