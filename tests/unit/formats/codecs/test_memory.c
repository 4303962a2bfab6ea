/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocations that fail while a tiny stream of each kind is read or written: each alone and with
 * all behind it, those of the codecs and those of the libraries below them. Such a call returns
 * MC_ENOMEM, and a file is the old one. It is run with tests/memory/failing.so preloaded. */
#include "tests/unit/formats/outcome.h"

#include "tests/unit/formats/kinds.h"

#include <dlfcn.h>
#include <glob.h>

static uint64_t (*failing)(int library, uint64_t n, int on);

static const char old[] = "old";

static void put_old(void)
{
    FILE *f = fopen(file, "w");

    assert_non_null(f);
    fputs(old, f);
    fclose(f);
}

static int is_old(void)
{
    char text[sizeof old];
    FILE *f = fopen(file, "r");
    size_t n = 0;

    assert_non_null(f);
    n = fread(text, 1, sizeof text, f);
    fclose(f);
    return n == sizeof old - 1 && !memcmp(text, old, n);
}

static void sample_of(const struct kind *k, const char *more, char path[4096])
{
    snprintf(path, 4096, "%s/formats/samples/good-%s%s.mcz", getenv("MC_ROOT"), k->name, more);
}

/* Writes one after another was read: histories are joined. */
static int make(const struct kind *k)
{
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

/* Each allocation of the call fails, alone (on = 0) or with all behind it; path: of what is read,
 * NULL to write. */
static void lack(const struct kind *k, const char *path, int library, int on)
{
    uint64_t n = 0, there = 0, lacked = 0;

    do {
        int rc = 0;
        if (!path)
            put_old();
        forget();
        failing(library, ++n, on);
        rc = path ? k->read(path, &why) : make(k);
        there = failing(library, 0, 0);
        if (rc ? rc != MC_ENOMEM || why.code != MC_ENOMEM || !*why.text : *why.text)
            fail_msg("%s %s, allocation %llu of %s%s: %d \"%s\"", path ? "reading" : "writing",
                     k->name, (unsigned long long)n, library ? "a library" : "its own",
                     on ? " and all behind it" : "", rc, why.text);
        if (!path)
            assert_int_equal(is_old(), rc != 0);
        lacked += rc != 0;
    } while (n <= there);
    assert_in_range(lacked, there ? 1 : 0, n - 1);
}

/* Of the kept samples, also those with more in them. */
TEST(readers_tell_of_a_lack_of_memory)
{
    char pattern[4096];
    glob_t found;

    for (size_t i = 0; i < N_KINDS; i++) {
        sample_of(&kinds[i], "*", pattern);
        assert_int_equal(glob(pattern, 0, NULL, &found), 0);
        for (size_t k = 0; k < 4 * found.gl_pathc; k++)
            if (!strstr(found.gl_pathv[k / 4], "groups.mcz")) /* it is refused, without a graph */
                lack(&kinds[i], found.gl_pathv[k / 4], k & 1, k >> 1 & 1);
        globfree(&found);
    }
}

TEST(writers_tell_of_a_lack_of_memory)
{
    for (size_t i = 0; i < N_KINDS; i++)
        for (int way = 0; way < 4; way++)
            lack(&kinds[i], NULL, way & 1, way >> 1);
}

int main(int argc, char **argv)
{
    const char *build = getenv("MC_BUILD"), *under = getenv("MC_UNDER");
    char preload[4096] = "";

    if (!build || (under && *under)) { /* sanitizers and valgrind have allocators of their own */
        puts("1..0 # SKIP it needs MC_BUILD, and allocators of its own");
        return 77;
    }
    failing = (uint64_t(*)(int, uint64_t, int))dlsym(RTLD_DEFAULT, "mc_failing");
    if (!failing && argc == 1) {
        snprintf(preload, sizeof preload, "%s/tests/memory/failing.so", build);
        setenv("LD_PRELOAD", preload, 1);
        execv("/proc/self/exe", (char *[]){argv[0], "preloaded", NULL});
    }
    if (!failing) {
        fprintf(stderr, "%s cannot be preloaded\n", preload);
        return 1;
    }
    return run_entered(enter_folder, leave_folder);
}
