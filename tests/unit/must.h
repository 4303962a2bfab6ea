/* SPDX-License-Identifier: Apache-2.0
 *
 * What the unit tests share: tests that enter themselves in their program's list, the error record
 * of the calls under test, calls that must pass or be refused, a temporary folder. It includes
 * cmocka and what cmocka needs. Header only. */
#ifndef MC_TEST_MUST_H
#define MC_TEST_MUST_H

#include "libcommon/base/error.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- the program's tests -------------------------------------------------------------------- */

static struct CMUnitTest entered[64];
static size_t n_entered;

static inline void enter_test(struct CMUnitTest test)
{
    if (n_entered == COUNT(entered))
        abort();
    entered[n_entered++] = test;
}

/* TEST(name) { ... } is a test; before and after are called around it. */
#define TEST_BETWEEN(name, before, after)                                                          \
    static void name(void **state);                                                                \
    static __attribute__((constructor)) void enter_##name(void)                                    \
    {                                                                                              \
        enter_test((struct CMUnitTest){#name, name, before, after, NULL});                         \
    }                                                                                              \
    static void name(void **state __attribute__((unused)))
#define TEST(name) TEST_BETWEEN(name, NULL, NULL)

/* All of them in the order of the file, between before and after (may be NULL); the exit status. */
static inline int run_entered(CMFixtureFunction before, CMFixtureFunction after)
{
    return cmocka_run_group_tests(entered, before, after);
}

/* ---- calls under test ----------------------------------------------------------------------- */

/* The error record that tests hand to the calls under test. */
static struct mc_error why;

static inline void forget(void)
{
    why = (struct mc_error){0};
}

static inline void must_at(int rc, const char *file_name, int line)
{
    if (rc) {
        print_error("ERROR: %d: %s\n", rc, why.text);
        _fail(file_name, line);
    }
}

static inline void must_fail_at(int rc, enum mc_err code, const char *says, const char *file_name,
                                int line)
{
    if (rc != (int)code || why.code != code || !*why.text || !strstr(why.text, says)) {
        print_error("ERROR: %d: '%s', not %d: '%s'\n", rc, why.text, (int)code, says);
        _fail(file_name, line);
    }
}

/* The call, which fills `why`, returns 0. */
#define must(call) must_at(call, __FILE__, __LINE__)

/* The call returns that code and leaves it in `why`, empty before, with a sentence that holds
 * `says`. */
#define must_fail(call, code, says) must_fail_at((forget(), (call)), code, says, __FILE__, __LINE__)

/* ---- a temporary folder --------------------------------------------------------------------- */

static char folder[] = "/tmp/mc-test-XXXXXX";
static const char file[] = "x.mcz"; /* the one that most tests write there */

/* Makes the folder and goes there. */
static inline int enter_folder(void **state)
{
    (void)state;
    return !mkdtemp(folder) || chdir(folder);
}

/* Removes `file` and the folder; fails where anything else is left in it. */
static inline int leave_folder(void **state)
{
    (void)state;
    unlink(file);
    return chdir("/") || rmdir(folder);
}

#endif
