/* SPDX-License-Identifier: Apache-2.0
 *
 * Helpers of all unit tests: a list of the program's tests, an error record for the calls under
 * test, calls that must pass or fail, a temporary folder. Includes cmocka and what it needs. Header
 * only. */
#ifndef MC_TEST_MUST_H
#define MC_TEST_MUST_H

#include "libcommon/base/error.h"

#include <math.h>
#include <ctype.h>
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

/* TEST(name) { ... } defines a test; before and after are called around it. */
#define TEST_BETWEEN(name, before, after)                                                          \
    static void name(void **state);                                                                \
    static __attribute__((constructor)) void enter_##name(void)                                    \
    {                                                                                              \
        enter_test((struct CMUnitTest){#name, name, before, after, NULL});                         \
    }                                                                                              \
    static void name(void **state __attribute__((unused)))
#define TEST(name) TEST_BETWEEN(name, NULL, NULL)

/* Run all tests in file order, between before and after (may be NULL). Returns the exit status. */
static inline int run_entered(CMFixtureFunction before, CMFixtureFunction after)
{
    return cmocka_run_group_tests(entered, before, after);
}

/* ---- calls under test ----------------------------------------------------------------------- */

/* The error record for the calls under test. */
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

/* Return 1 if `text` contains `words`, in which "*" is any text, and 0 otherwise. A test checks the
 * object of a message and the words that distinguish the problem, such as "\"x\"*not finite":
 * other wording passes. Numbers are whole: "4 images" is not in "14 images". */
static inline int has_words(const char *text, const char *words)
{
    const char *start = text;

    while (*words) {
        const size_t n = strcspn(words, "*");
        while (strncmp(text, words, n) || (isdigit(*words) && text > start && isdigit(text[-1])) ||
               (n && isdigit(words[n - 1]) && isdigit(text[n])))
            if (!*text++)
                return 0;
        text += n;
        words += n + (words[n] == '*');
    }
    return 1;
}

static inline void must_say_at(const char *words, const char *file_name, int line)
{
    if (!*why.text || !has_words(why.text, words)) {
        print_error("ERROR: '%s' (expected '%s')\n", why.text, words);
        _fail(file_name, line);
    }
}

static inline void must_fail_at(int rc, enum mc_err code, const char *words, const char *file_name,
                                int line)
{
    if (rc != (int)code || why.code != code) {
        print_error("ERROR: %d: '%s' (expected %d: '%s')\n", rc, why.text, (int)code, words);
        _fail(file_name, line);
    }
    must_say_at(words, file_name, line);
}

/* The call fills `why` and returns 0. */
#define must(call) must_at(call, __FILE__, __LINE__)

/* `why` has a sentence with these words. */
#define must_say(words) must_say_at(words, __FILE__, __LINE__)

/* The call returns `code` and stores it in the cleared `why`, with a sentence with these words. */
#define must_fail(call, code, words)                                                               \
    must_fail_at((forget(), (call)), code, words, __FILE__, __LINE__)

/* ---- a temporary folder --------------------------------------------------------------------- */

static char folder[] = "/tmp/mc-test-XXXXXX";
static const char file[] = "x.mcz"; /* the file that most tests write there */

/* Make the folder and enter it. */
static inline int enter_folder(void **state)
{
    (void)state;
    return !mkdtemp(folder) || chdir(folder);
}

/* Remove `file` and the folder. Fails if the folder contains anything else. */
static inline int leave_folder(void **state)
{
    (void)state;
    unlink(file);
    return chdir("/") || rmdir(folder);
}

#endif
