/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls during which allocations fail (tests/memory/failing.so, which the program preloads to
 * itself): each alone and with all behind it, those of our code and those of the libraries below
 * it. Such a call returns MC_ENOMEM and tells so in `why`, and a file that it writes is the old
 * one; or it does its work all the same. Header only. */
#ifndef MC_TEST_LACK_H
#define MC_TEST_LACK_H

#include "tests/unit/must.h"

#include <dlfcn.h>
#include <errno.h>

static uint64_t (*failing)(int library, uint64_t n, int on);

static const char old[] = "old";

static inline void put_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static inline int is_old(void)
{
    char text[sizeof old];
    FILE *f = fopen(file, "r");
    size_t n = 0;

    assert_non_null(f);
    n = fread(text, 1, sizeof text, f);
    fclose(f);
    return n == sizeof old - 1 && !memcmp(text, old, n);
}

/* MC_ENOMEM; or MC_EFAIL of a call of the C library that lacked it, which says so. */
static inline int told_lack(int rc)
{
    return rc == (int)why.code &&
           (rc == MC_ENOMEM ? *why.text != 0
                            : rc == MC_EFAIL && strstr(why.text, strerror(ENOMEM)) != NULL);
}

/* The call fills `why`; writes: its result is `file`. Returns how often memory lacked. */
static inline uint64_t fail_each(const char *what, int (*call)(const void *arg), const void *arg,
                                 int writes, int library, int on)
{
    uint64_t n = 0, there = 0, lacked = 0;

    do {
        int rc = 0;
        if (writes)
            put_text(file, old);
        forget();
        failing(library, ++n, on);
        rc = call(arg);
        there = failing(library, 0, 0);
        if (rc ? !told_lack(rc) : *why.text)
            fail_msg("%s, allocation %llu of %s%s: %d \"%s\"", what, (unsigned long long)n,
                     library ? "a library" : "its own", on ? " and all behind it" : "", rc,
                     why.text);
        if (writes)
            assert_int_equal(is_old(), rc != 0);
        lacked += rc != 0;
    } while (n <= there);
    return lacked;
}

static inline void lack(const char *what, int (*call)(const void *arg), const void *arg, int writes)
{
    uint64_t own = 0;

    for (int on = 0; on < 2; on++) {
        own += fail_each(what, call, arg, writes, 0, on);
        fail_each(what, call, arg, writes, 1, on);
    }
    assert_true(own > 0);
}

/* The program begins again with the library preloaded; 77 where that cannot be. */
static inline int run_lacking(int argc, char **argv, CMFixtureFunction before,
                              CMFixtureFunction after)
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
    return run_entered(before, after);
}

#endif
