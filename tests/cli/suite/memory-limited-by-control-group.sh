# SPDX-License-Identifier: Apache-2.0
# Programs refuse in one line, before allocation, what exceeds the memory limit of their control group or one above it;
# above the limit the system would kill them silently. Files stand for the system's control group here.
unshare -rm mount -t tmpfs none /sys/fs/cgroup 2>/dev/null || exit 77
mc-data synth --samples 2000 --size 64 -o d.mcz

# run_in_group VERSION LIMIT COMMAND...: runs in a group without limit (max), whose parent has this limit
run_in_group() {
    unshare -rm bash -s -- "$@" <<'END'
        mount -t tmpfs none /sys/fs/cgroup || exit 99
        own=$(sed -n "$([ "$1" = 1 ] && echo 's/^[0-9]*:memory://p' || echo 's/^0:://p')" /proc/self/cgroup)
        own=/sys/fs/cgroup$([ "$1" = 2 ] || echo /memory)${own%/} above=${own%/*}
        file=$([ "$1" = 1 ] && echo memory.limit_in_bytes || echo memory.max)
        mkdir -p "$own"
        echo max >"$own/$file"
        [[ $above == /sys/fs/cgroup/* && $own != /sys/fs/cgroup/memory ]] || above=$own
        echo "$2" >"$above/$file"
        exec "${@:3}"
END
}
tried=0
swap=$(awk '$1 == "SwapTotal:" { print $2 * 1024 }' /proc/meminfo)
[ "$swap" = 0 ] || exit 77 # the allocation of this command succeeds
for version in 1 2; do
    grep -q "^[0-9]*:$([ $version = 2 ] || echo memory):" /proc/self/cgroup || continue
    tried=$((tried + 1))
    for limit in max 30000000; do run_in_group $version $limit mc-train -q -t 1 --net mlp:4 --data d.mcz --epochs 0 -o $limit.mcz; done
    fails_unchanged 1 'out of memory: 25.4 MB required, 20.0 MB available' \
        run_in_group $version 20000000 mc-train -q -t 1 --net mlp:4 --data d.mcz --epochs 0 -o max.mcz
    fails_unchanged 1 '--batch 2000: out of memory: ' \
        run_in_group $version 60000000 mc-train -q -t 1 --net mlp:4 --data d.mcz --epochs 1 --batch 2000 -o max.mcz
done
[ $tried -gt 0 ] || exit 77
