/* SPDX-License-Identifier: Apache-2.0
 *
 * What memory there is. */
#include "tools/cli/memory.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>

/* The number that a file holds; -1 where it holds none, such as "max". */
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

static void lower(double *most, double limit)
{
    if (*most < 0 || limit < *most)
        *most = limit;
}

/* What the memory and the swap of the control groups of a container, a job or a service allow
 * (cgroups(7), both versions, where distributions mount them; a container may see its own group as
 * the root alone). */
static void lower_to_groups(double *most, double swap)
{
    FILE *f = fopen("/proc/self/cgroup", "re");
    char line[PATH_MAX], file[PATH_MAX + 64];

    while (f && fgets(line, sizeof line, f)) {
        char *controllers = strchr(line, ':'),
             *path = controllers ? strchr(++controllers, ':') : NULL;
        if (!path)
            continue;
        *path++ = 0;
        const int first =
            !strcmp(controllers, "memory"); /* of the versions; the second has no name */
        if (!first && *controllers)
            continue;
        for (char *end = path + strcspn(path, "\n"); end; end = strrchr(path, '/')) {
            double limit = -1;
            *end = 0;
            snprintf(file, sizeof file, "/sys/fs/cgroup%s%s/%s", first ? "/memory" : "", path,
                     first ? "memory.limit_in_bytes" : "memory.max");
            if ((limit = number_in(file)) >= 0)
                lower(most, limit + swap);
        }
    }
    if (f)
        fclose(f);
}

int mc_memory_fits(double bytes, struct mc_error *err)
{
    struct sysinfo s = {0};
    struct rlimit limit;
    double most = -1;

    if (!sysinfo(&s))
        most = ((double)s.totalram + (double)s.totalswap) * s.mem_unit;
    if (!getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY)
        lower(&most, (double)limit.rlim_cur);
    lower_to_groups(&most, (double)s.totalswap * s.mem_unit);
    return most < 0 || bytes <= most
               ? 0
               : mc_fail(err, MC_ENOMEM, "out of memory: %.1f MB are needed, there are %.1f MB",
                         bytes / 1e6, most / 1e6);
}
