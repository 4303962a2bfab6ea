/* SPDX-License-Identifier: Apache-2.0
 *
 * Declared groups whose units are equal although rows on axis 0 and on axis 1 of parts alternate
 * differently in each unit, as in a convolution from blocks to the same blocks. */
#include "libcommon/graph/group_rows.h"
#include "libcommon/graph/symmetry.h"
#include "tests/unit/must.h"

#define HEADER "tensor\taxis\toffset\tcount\tblock\tgroup\twithin\tunit\n"
#define PARTS 3
#define CHANNELS 4 /* per block */

/* The rows of groups that are nested in unit j of "x". deep: pairs of channels, and the two
 * channels of each pair, instead of four channels. */
static void add_unit(FILE *f, size_t j, int deep)
{
    const size_t n = PARTS * CHANNELS, count = deep ? 2 : CHANNELS, block = deep ? 2 : 1;

    for (size_t inner = 0; inner <= (deep ? count : 0); inner++) { /* 0: the group in the unit */
        const size_t at = CHANNELS * j + (inner ? 2 * (inner - 1) : 0);
        char outer[32] = "x", row[96];
        if (inner)
            snprintf(outer, sizeof outer, "g%zu.0", j);
        snprintf(row, sizeof row, "%zu\t%zu\tg%zu.%zu\t%s\t%zu\n", inner ? 2 : count,
                 inner ? 1 : block, j, inner, outer, inner ? inner - 1 : j);
        fprintf(f, "w\t0\t%zu\t%sv\t0\t%zu\t%s", at, row, at, row);
        for (size_t part = 0; part < PARTS; part++)
            fprintf(f, "w\t1/%d\t%zu\t%s", PARTS, n * part + at, row);
    }
}

/* Declare the groups of w (12, 12), u and v (12). extra: more rows. */
static int declare(int deep, const char *extra)
{
    const uint64_t shape[] = {PARTS * CHANNELS, PARTS * CHANNELS};
    const struct mc_tensor tensors[] = {mc_tensor_make("u", MC_F32, 1, shape),
                                        mc_tensor_make("v", MC_F32, 1, shape),
                                        mc_tensor_make("w", MC_F32, 2, shape)};
    struct mc_symmetry s = {0};
    struct mc_graph *g = NULL;
    char text[8192];
    FILE *f = fmemopen(text, sizeof text, "w");

    assert_non_null(f);
    fputs(HEADER "w\t0\t0\t3\t4\tx\t-\t-\nv\t0\t0\t3\t4\tx\t-\t-\n", f);
    for (size_t part = 0; part < PARTS; part++)
        fprintf(f, "w\t1/%d\t%d\t3\t4\tx\t-\t-\n", PARTS, PARTS * CHANNELS * (int)part);
    for (size_t j = 0; j < PARTS; j++)
        add_unit(f, j, deep);
    fputs(extra, f);
    fclose(f);
    int rc = mc_graph_declare(&g, "net", tensors, COUNT(tensors), text, strlen(text), &why);
    if (rc)
        return rc;
    must(mc_symmetry_derive(&s, g, &why));
    const size_t per_unit = deep ? 3 : 1;
    assert_int_equal(s.n_groups, 1 + PARTS * per_unit);
    for (size_t k = 1; k < s.n_groups; k++) {
        const size_t slot = (k - 1) % per_unit, outer = k - slot;
        assert_int_equal(s.groups[k].outer, slot ? outer : 0);
        assert_int_equal(s.groups[k].unit, slot ? slot - 1 : (k - 1) / per_unit);
    }
    mc_symmetry_release(&s);
    mc_graph_free(g);
    return 0;
}

TEST(units_are_equal_in_any_order_of_rows)
{
    must(declare(0, ""));
}

TEST(nested_groups_are_equal_in_any_order_of_rows)
{
    must(declare(1, ""));
}

TEST(row_in_only_one_unit_is_refused)
{
    must_fail(declare(0, "w\t1\t0\t4\t1\tg0.0\tx\t0\n"), MC_EINPUT, "axis 1*counted over");
    must_fail(declare(0, "w\t1/3\t8\t2\t2\tlast\tx\t2\n"), MC_EINPUT, "overlaps");
    must_fail(declare(0, "u\t0\t0\t3\t4\tx\t-\t-\nu\t0\t0\t4\t1\tg0.0\tx\t0\n"), MC_EINPUT,
              "group \"g1.0\"*counterpart*\"x\"");
    must_fail(declare(1, "u\t0\t0\t3\t4\tx\t-\t-\nu\t0\t0\t2\t2\tg0.0\tx\t0\n"
                         "u\t0\t4\t2\t2\tg1.0\tx\t1\nu\t0\t8\t2\t2\tg2.0\tx\t2\n"
                         "u\t0\t0\t2\t1\tg0.1\tg0.0\t0\nu\t0\t2\t2\t1\tg0.2\tg0.0\t1\n"),
              MC_EINPUT, "group \"g1.1\"*counterpart*\"g1.0\"");
}

int main(void)
{
    return run_entered(NULL, NULL);
}
