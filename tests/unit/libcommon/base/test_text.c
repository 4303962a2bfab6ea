/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts printed to memory. */
#include "libcommon/base/text.h"
#include "tests/unit/must.h"

#include <sys/resource.h>

TEST(text_contains_what_was_printed)
{
    struct mc_text t;

    must(mc_text_open(&t, &why));
    must(mc_text_end(&t, 0, &why));
    assert_int_equal(t.bytes, 0);
    free(t.text);
    must(mc_text_open(&t, &why));
    for (int i = 0; i < 5000; i++)
        fprintf(t.f, "%04d\n", i);
    must(mc_text_end(&t, 0, &why));
    assert_int_equal(t.bytes, 25000);
    for (int i = 0; i < 5000; i++)
        assert_int_equal(atoi(t.text + 5 * i), i);
    assert_int_equal(mc_text_end(&t, MC_EINPUT, &why), MC_EINPUT);
    free(t.text);
}

/* The line after a failed allocation fits again. The text then has a gap and must report it. */
TEST(text_that_lost_a_line_is_an_error)
{
    const char *under = getenv("MC_UNDER");
    static char line[1 << 20];
    struct rlimit old, now;
    struct mc_text t;

    if (under && *under)
        skip(); /* sanitizers and valgrind need memory themselves */
    memset(line, 'x', sizeof line);
    must(mc_text_open(&t, &why));
    setvbuf(t.f, NULL, _IONBF, 0);
    must(getrlimit(RLIMIT_AS, &old));
    now = old;
    now.rlim_cur = 1; /* forbids any growth */
    must(setrlimit(RLIMIT_AS, &now));
    assert_int_equal(fwrite(line, 1, sizeof line, t.f), 0);
    must(setrlimit(RLIMIT_AS, &old));
    fputs("more\n", t.f);
    forget();
    assert_int_equal(mc_text_end(&t, 0, &why), MC_ENOMEM);
    assert_string_equal(why.text, "out of memory");
    free(t.text);
}

int main(void)
{
    return run_entered(NULL, NULL);
}
