/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls during which allocations fail (tests/memory/failing.so, which the program preloads to
 * itself), those of our code and those of the libraries below it, or calls for input and output:
 * each alone and with all behind it. Such a call returns MC_ENOMEM or MC_EFAIL and tells so in
 * `why`, and a file that it writes is the old one; or it does its work all the same. All memory
 * that it takes is freed. Header only. */
#ifndef MC_TEST_FAILING_H
#define MC_TEST_FAILING_H

#include "tests/unit/must.h"

#include <dlfcn.h>
#include <errno.h>

enum { OWN, LIBRARY, CALLS };
static uint64_t (*failing)(int what, uint64_t n, int on);
static int64_t (*held)(void);

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

/* MC_ENOMEM; or MC_EFAIL of a call of the C library that lacked it, or that failed, which says
 * so. */
static inline int is_told(int rc, int what)
{
    if (rc != (int)why.code)
        return 0;
    return what != CALLS && rc == MC_ENOMEM
               ? *why.text != 0
               : rc == MC_EFAIL && strstr(why.text, strerror(what == CALLS ? EIO : ENOMEM)) != NULL;
}

/* The call fills `why`; writes: its result is `file`. Returns how often it failed. */
static inline uint64_t fail_each(const char *name, int (*call)(const void *arg), const void *arg,
                                 int writes, int what, int on)
{
    static const char *const of[] = {"own allocation", "library's allocation", "call"};
    uint64_t n = 0, there = 0, failed = 0;

    must(call(arg));
    const int64_t before = held();
    do {
        int rc = 0;
        if (writes)
            put_text(file, old);
        forget();
        failing(what, ++n, on);
        rc = call(arg);
        there = failing(what, 0, 0);
        if (rc ? !is_told(rc, what) : *why.text)
            fail_msg("%s, %s %llu%s: %d \"%s\"", name, of[what], (unsigned long long)n,
                     on ? " and all behind it" : "", rc, why.text);
        /* a folder that cannot be flushed has the new file */
        if (writes && !strstr(why.text, "is written"))
            assert_int_equal(is_old(), rc != 0);
        failed += rc != 0;
        must((forget(), call(arg)));             /* so that the C library has again what it keeps */
        if (what != LIBRARY && held() != before) /* libzip and libpng lose some of their own */
            fail_msg("%s, %s %llu%s: %lld pieces of memory are not freed", name, of[what],
                     (unsigned long long)n, on ? " and all behind it" : "",
                     (long long)(held() - before));
    } while (n <= there);
    return failed;
}

static inline void fail_all(const char *name, int (*call)(const void *arg), const void *arg,
                            int writes)
{
    for (int what = OWN; what <= CALLS; what++) {
        const uint64_t failed = fail_each(name, call, arg, writes, what, 0) +
                                fail_each(name, call, arg, writes, what, 1);
        assert_true(failed || what == LIBRARY || (what == CALLS && !writes));
    }
}

static void no_preloading(void **state)
{
    (void)state;
    skip(); /* sanitizers and valgrind have allocators of their own */
}

/* The program begins again with the library preloaded. */
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
        fprintf(stderr, "MC_BUILD/tests/memory/failing.so cannot be preloaded\n");
        return 1;
    }
    return run_entered(before, after);
}

#endif
