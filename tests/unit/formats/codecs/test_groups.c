/* SPDX-License-Identifier: Apache-2.0
 *
 * Taps are equal if places, groups, names and sizes are; moments of different taps are not added. A
 * tap has at most the number of units that can be matched. */
#include "tests/unit/formats/kinds.h"
#include "tests/unit/must.h"

/* Two groups, the second nested in unit 0 of the first, and two taps. */
struct taps {
    struct mc_group groups[2];
    struct mc_tap_info taps[2];
    struct mc_taps t;
};

static struct taps *fill(struct taps *x, int nested)
{
    *x = (struct taps){.groups = {{.name = "g", .size = 1, .outer = MC_NO_GROUP},
                                  {.name = "h", .size = 2, .outer = nested ? 0 : MC_NO_GROUP}},
                       .taps = {{.name = "r", .count = 2, .samples = 4},
                                {.name = "s", .start = 1, .count = 2, .samples = 8}}};
    x->t = (struct mc_taps){
        .place = "post", .n_groups = 2, .n_taps = 2, .groups = x->groups, .taps = x->taps};
    return x;
}

#define DIFFER(nested, change)                                                                     \
    do {                                                                                           \
        fill(&b, nested);                                                                          \
        change;                                                                                    \
        assert_false(mc_taps_same(&a.t, &b.t) || mc_taps_same(&b.t, &a.t));                        \
    } while (0)

TEST(taps_of_other_places_groups_or_sizes_differ)
{
    struct taps a, b;

    for (int nested = 0; nested < 2; nested++) {
        assert_true(mc_taps_same(&fill(&a, nested)->t, &fill(&b, nested)->t));
        b.taps[0].samples = 9;
        assert_true(mc_taps_same(&a.t, &b.t));
        DIFFER(nested, strcpy(b.t.place, "pre"));
        DIFFER(nested, b.t.n_groups = 1);
        DIFFER(nested, b.t.n_taps = 1);
        DIFFER(nested, b.groups[1].name[0] = 'x');
        DIFFER(nested, b.groups[1].size = 3);
        DIFFER(nested, b.taps[1].name[0] = 'x');
        DIFFER(nested, b.taps[1].group = 1);
        DIFFER(nested, b.taps[1].start = 0);
        DIFFER(nested, b.taps[1].count = 1);
        DIFFER(!nested, (void)0);
    }
    DIFFER(1, b.groups[1].outer = MC_NO_GROUP);
    DIFFER(1, b.groups[1].unit = 1);
}

TEST(tap_with_more_units_than_matchable_is_refused)
{
    struct mc_taps taps = tiny_taps();
    struct mc_tap_info wide = tiny_tap;
    struct mc_moments m;

    taps.taps = &wide;
    wide.count = MC_MAX_MATCHED;
    must(mc_moments_begin(&m, &taps, &why));
    mc_moments_release(&m);
    wide.count++;
    must_fail(mc_moments_begin(&m, &taps, &why), MC_EINPUT,
              "tap relu: at most 65536 units*matched (got 65537)");
}

int main(void)
{
    return run_entered(NULL, NULL);
}
