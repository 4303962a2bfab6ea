/* SPDX-License-Identifier: Apache-2.0
 *
 * Failing allocations and failing input and output calls while a stream of each kind is read or
 * written. */
#include "tests/unit/formats/kinds.h"
#include "tests/unit/failing.h"

#include <glob.h>

static void sample_of(const struct kind *k, const char *more, char path[4096])
{
    snprintf(path, 4096, "%s/formats/samples/good-%s%s.mcz", getenv("MC_ROOT"), k->name, more);
}

struct sample {
    const struct kind *kind;
    const char *path;
};

static int take(const void *arg)
{
    const struct sample *s = arg;

    return s->kind->read(s->path, &why);
}

/* Write a stream after reading another: their histories are joined. */
static int make(const void *arg)
{
    const struct kind *k = arg;
    struct mc_history *h = mc_history_new("mc-sample");
    struct mc_reader *r = NULL;
    char path[4096];
    int rc = 0;

    sample_of(k, "", path);
    rc = h ? mc_reader_open(&r, path, &why) : mc_no_memory(&why);
    if (!rc) {
        mc_history_str(h, "kind", k->name);
        mc_history_input(h, r);
        rc = mc_reader_rest(r, NULL, &why);
    }
    mc_reader_close(r);
    if (!rc)
        rc = k->make(file, h, &why);
    mc_history_free(h);
    return rc;
}

/* Read the stored samples, some of which have optional contents. */
TEST(readers_report_failures)
{
    char pattern[4096];
    glob_t found;

    for (size_t i = 0; i < N_KINDS; i++) {
        sample_of(&kinds[i], "*", pattern);
        assert_int_equal(glob(pattern, 0, NULL, &found), 0);
        for (size_t k = 0; k < found.gl_pathc; k++)
            if (!strstr(found.gl_pathv[k], "groups.mcz")) /* refused for the missing graph */
                fail_all(found.gl_pathv[k], take, &(struct sample){&kinds[i], found.gl_pathv[k]},
                         0);
        globfree(&found);
    }
}

TEST(writers_report_failures)
{
    for (size_t i = 0; i < N_KINDS; i++)
        fail_all(kinds[i].name, make, &kinds[i], 1);
}

int main(int argc, char **argv)
{
    return run_failing(argc, argv, enter_folder, leave_folder);
}
