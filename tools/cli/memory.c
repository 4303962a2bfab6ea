/* SPDX-License-Identifier: Apache-2.0
 *
 * Limits of the memory that a process may use. */
#include "tools/cli/memory.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>

/* Return the number in a file, or -1 if it contains none, such as "max". */
static double number_in(const char *path)
{
    FILE *f = fopen(path, "re");
    double value = -1;

    if (f && fscanf(f, "%lf", &value) != 1)
        value = -1;
    if (f)
        fclose(f);
    return value;
}

static void lower(double *max, double limit)
{
    if (*max < 0 || limit < *max)
        *max = limit;
}

/* Apply the memory limits of the control groups of a container, job or service, plus the swap
 * (cgroups(7), both versions, at the usual mount points). The loop goes up to the root, because a
 * container may see its own group only as the root. */
static void lower_to_groups(double *max, double swap)
{
    FILE *f = fopen("/proc/self/cgroup", "re");
    char line[PATH_MAX], file[PATH_MAX + 64];

    while (f && fgets(line, sizeof line, f)) {
        char *controllers = strchr(line, ':'),
             *path = controllers ? strchr(++controllers, ':') : NULL;
        if (!path)
            continue;
        *path++ = 0;
        const int v1 = !strcmp(controllers, "memory"); /* version 2 has an empty name */
        if (!v1 && *controllers)
            continue;
        for (char *end = path + strcspn(path, "\n"); end; end = strrchr(path, '/')) {
            double limit = -1;
            *end = 0;
            snprintf(file, sizeof file, "/sys/fs/cgroup%s%s/%s", v1 ? "/memory" : "", path,
                     v1 ? "memory.limit_in_bytes" : "memory.max");
            if ((limit = number_in(file)) >= 0)
                lower(max, limit + swap);
        }
    }
    if (f)
        fclose(f);
}

int mc_memory_check(double bytes, struct mc_error *err)
{
    struct sysinfo s = {0};
    struct rlimit limit;
    double max = -1;

    if (!sysinfo(&s))
        max = ((double)s.totalram + (double)s.totalswap) * s.mem_unit;
    if (!getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY)
        lower(&max, (double)limit.rlim_cur);
    lower_to_groups(&max, (double)s.totalswap * s.mem_unit);
    return max < 0 || bytes <= max
               ? 0
               : mc_fail(err, MC_ENOMEM, "out of memory: %.1f MB required, %.1f MB available",
                         bytes / 1e6, max / 1e6);
}
