/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls during which allocations or input and output fail. tests/memory/failing.so, which the
 * program preloads into itself, makes them fail: our own allocations, those of libraries, or I/O
 * calls. Each fails alone, then with all later ones. The call under test must return MC_ENOMEM or
 * MC_EFAIL with a sentence in `why` and leave its output file unchanged, or succeed anyway. It must
 * free all its memory. Header only. */
#ifndef MC_TEST_FAILING_H
#define MC_TEST_FAILING_H

#include "tests/unit/must.h"

#include <dlfcn.h>
#include <errno.h>

enum { OWN, LIBRARY, CALLS };
static uint64_t (*failing)(int kind, uint64_t n, int on);
static int64_t (*held)(void); /* number of allocations that are not freed */

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

/* 1 if the error is MC_ENOMEM, or MC_EFAIL with the C library's reason. */
static inline int is_reported(int rc, int kind)
{
    if (rc != (int)why.code)
        return 0;
    return kind != CALLS && rc == MC_ENOMEM
               ? *why.text != 0
               : rc == MC_EFAIL && strstr(why.text, strerror(kind == CALLS ? EIO : ENOMEM)) != NULL;
}

/* Check the call with each failure. It fills `why`; writes: its result is `file`. Returns the
 * number of failed calls. */
static inline uint64_t fail_each(const char *name, int (*call)(const void *arg), const void *arg,
                                 int writes, int kind, int on)
{
    static const char *const labels[] = {"own allocation", "library's allocation", "call"};
    uint64_t n = 0, total = 0, failed = 0;

    must(call(arg));
    const int64_t before = held();
    do {
        int rc = 0;
        if (writes)
            put_text(file, old);
        forget();
        failing(kind, ++n, on);
        rc = call(arg);
        total = failing(kind, 0, 0);
        if (rc ? !is_reported(rc, kind) : *why.text)
            fail_msg("%s, %s %llu%s: %d \"%s\"", name, labels[kind], (unsigned long long)n,
                     on ? " and all later ones" : "", rc, why.text);
        /* if a folder cannot be flushed, the new file exists anyway */
        if (writes && !strstr(why.text, "is written"))
            assert_int_equal(is_old(), rc != 0);
        failed += rc != 0;
        must((forget(), call(arg)));             /* restores what the C library keeps */
        if (kind != LIBRARY && held() != before) /* libzip and libpng leak some memory */
            fail_msg("%s, %s %llu%s: %lld allocations are not freed", name, labels[kind],
                     (unsigned long long)n, on ? " and all later ones" : "",
                     (long long)(held() - before));
    } while (n <= total);
    return failed;
}

static inline void fail_all(const char *name, int (*call)(const void *arg), const void *arg,
                            int writes)
{
    for (int kind = OWN; kind <= CALLS; kind++) {
        const uint64_t failed = fail_each(name, call, arg, writes, kind, 0) +
                                fail_each(name, call, arg, writes, kind, 1);
        assert_true(failed || kind == LIBRARY || (kind == CALLS && !writes));
    }
}

static void no_preloading(void **state)
{
    (void)state;
    skip(); /* sanitizers and valgrind have their own allocators */
}

/* Restart the program with the library preloaded, then run its tests. */
static inline int run_failing(int argc, char **argv, CMFixtureFunction before,
                              CMFixtureFunction after)
{
    const char *build = getenv("MC_BUILD"), *under = getenv("MC_UNDER");
    char preload[4096];

    if (under && *under) {
        memset(entered, 0, sizeof entered);
        n_entered = 0;
        enter_test((struct CMUnitTest)cmocka_unit_test(no_preloading));
        return run_entered(NULL, NULL);
    }
    failing = (uint64_t(*)(int, uint64_t, int))dlsym(RTLD_DEFAULT, "mc_failing");
    held = (int64_t(*)(void))dlsym(RTLD_DEFAULT, "mc_held");
    if (!failing && argc == 1) {
        snprintf(preload, sizeof preload, "%s/tests/memory/failing.so", build ? build : "build");
        setenv("LD_PRELOAD", preload, 1);
        execv("/proc/self/exe", (char *[]){argv[0], "preloaded", NULL});
    }
    if (!failing) {
        fprintf(stderr, "cannot preload MC_BUILD/tests/memory/failing.so\n");
        return 1;
    }
    return run_entered(before, after);
}

#endif
