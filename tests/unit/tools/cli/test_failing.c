/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocations that fail while a resumed run reads its log: no line is lost. */
#include "tests/unit/failing.h"
#include "tools/cli/log.h"

static const char lines[] = "{\"event\":\"start\",\"seed\":1}\n"
                            "{\"event\":\"epoch\",\"epoch\":1,\"loss\":0.5}\n"
                            "{\"event\":\"epoch\",\"epoch\":2,\"loss\":0.25}\n";

static void epoch(struct mc_log *l, int n, double loss)
{
    mc_log_begin(l, "epoch");
    mc_log_int(l, "epoch", n);
    mc_log_num(l, "loss", loss);
    mc_log_end(l);
}

static int resume(void)
{
    struct mc_log *l = NULL;
    int rc = mc_log_open(&l, file, 1, &why);

    mc_log_begin(l, "start");
    mc_log_int(l, "seed", 1);
    mc_log_end(l);
    epoch(l, 1, .5);
    epoch(l, 2, .25);
    return mc_log_close(l, rc, &why);
}

TEST(lines_survive_failed_allocations)
{
    for (int way = 0; way < 4; way++) {
        uint64_t n = 0, calls = 0, failed = 0;
        do {
            char text[2 * sizeof lines] = "";
            int rc = 0;
            put_text(file, lines);
            forget();
            failing(way & 1, ++n, way >> 1);
            rc = resume();
            calls = failing(way & 1, 0, 0);
            if (rc ? !is_reported(rc, OWN) : *why.text)
                fail_msg("way %d, allocation %llu: %d \"%s\"", way, (unsigned long long)n, rc,
                         why.text);
            FILE *f = fopen(file, "r");
            assert_non_null(f);
            assert_true(fread(text, 1, sizeof text - 1, f) > 0);
            fclose(f);
            assert_string_equal(text, lines);
            failed += rc != 0;
        } while (n <= calls);
        assert_true(failed || way & 1); /* Jansson uses our allocator */
    }
}

int main(int argc, char **argv)
{
    return run_failing(argc, argv, enter_folder, leave_folder);
}
