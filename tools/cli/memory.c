/* SPDX-License-Identifier: Apache-2.0
 *
 * What memory there is. */
#include "tools/cli/memory.h"

#include <sys/resource.h>
#include <sys/sysinfo.h>

int mc_memory_fits(double bytes, struct mc_error *err)
{
    struct sysinfo s;
    struct rlimit limit;
    double most = -1;

    if (!sysinfo(&s))
        most = ((double)s.totalram + (double)s.totalswap) * s.mem_unit;
    if (!getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY &&
        (most < 0 || (double)limit.rlim_cur < most))
        most = (double)limit.rlim_cur;
    return most < 0 || bytes <= most
               ? 0
               : mc_fail(err, MC_ENOMEM, "out of memory: %.1f MB are needed, there are %.1f MB",
                         bytes / 1e6, most / 1e6);
}
