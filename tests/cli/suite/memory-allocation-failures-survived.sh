# SPDX-License-Identifier: Apache-2.0
# If an allocation fails, a program exits with status 1, one line and the old files, or completes its work. This runs
# part of tests/torture/memory: one command per program in C, most commands of mc-data.
[ -z "$MC_UNDER" ] || exit 77 # sanitizers replace the allocator
set +e
. "$MC_ROOT/tests/memory/inject.bash"
make_inputs || die 'cannot make the inputs'
list_commands
declare -A seen
for k in "${!lines[@]}"; do
    program=${lines[k]%% *} samples=3
    case ${lines[k]} in
    *tiny-imagenet* | *--no-shuffle*) continue ;;
    mc-data*) samples=8 ;;
    *--signature* | *safetensors*) ;; # texts
    *activations.mcz*) ;; # starts oneDNN
    *) [ -z "${seen[$program]:-}" ] || continue ;;
    esac
    seen[$program]=1
    learn "$k" || die 'a command fails undisturbed'
    # the second allocation is argp's, the last ones are for output
    judge "$k" own 2 0
    judge "$k" own $((own[k] - 3)) 0
    for ((i = 3; i <= own[k]; i += own[k] / samples)); do judge "$k" own $i $((i % 2)); done
    # a C++ library throws; a decoder reports damage
    for ((i = foreign[k] / 3; i > 0 && i <= foreign[k]; i += foreign[k] / 3)); do judge "$k" library $i 0; done
    # oneDNN does not check all of its allocations
    [[ ${lines[k]} != *activations.mcz* ]] || for ((i = 1; i <= foreign[k]; i++)); do judge "$k" library $i 0; done
done >found
expect_equal "${#seen[@]}" 18
echo "$attempts attempts" >&2
[ $faults = 0 ] || die "$faults of $attempts: $(cat found)"
