/* SPDX-License-Identifier: Apache-2.0
 *
 * Histories as described in formats/README.md: a merge contains each input's history once, the pair
 * of networks is found in the history, and an output fails if an input was not read to its end. */
#include "formats/stream/history.h"
#include "formats/stream/reader.h"
#include "formats/stream/writer.h"
#include "tests/unit/formats/stream/small.h"

static struct mc_history *history_of(const char *tool, int64_t seed, size_t n,
                                     const char *const *inputs)
{
    struct mc_history *h = mc_history_new(tool);

    assert_non_null(h);
    mc_history_int(h, "seed", seed);
    for (size_t i = 0; i < n; i++) {
        struct mc_reader *r = NULL;
        must(mc_reader_open(&r, inputs[i], &why));
        mc_history_input(h, r);
        must(mc_reader_rest(r, NULL, &why));
        mc_reader_close(r);
    }
    return h;
}

TEST(merge_keeps_every_parent_once)
{
    char paths[4][256], id[4][MC_ID_LEN];
    const char *p[4];
    struct mc_history *h = NULL;
    struct mc_reader *r = NULL;

    for (int i = 0; i < 4; i++) {
        snprintf(paths[i], sizeof paths[i], "h%d.mcz", i);
        p[i] = paths[i];
    }
    /* data -> a, data -> b, (a, b) -> c: a diamond */
    h = history_of("mc-data", 0, 0, NULL);
    write_small(p[0], h, 0, id[0]);
    mc_history_free(h);
    for (int i = 1; i < 3; i++) {
        h = history_of("mc-train", i, 1, p);
        write_small(p[i], h, (float)i, id[i]);
        mc_history_free(h);
    }
    h = history_of("mc-acts", 9, 2, p + 1);
    struct mc_fact late = {"late", "draft"};
    mc_history_num(h, "x", 0.5);
    mc_history_facts(h, &late, 1);
    mc_history_str(h, "at", "post");
    snprintf(late.value, sizeof late.value, "final");
    write_small(p[3], h, 3, id[3]);
    must(mc_reader_open(&r, p[3], &why));
    const msgpack_object *list = mc_reader_history(r), *parents = NULL, *args = NULL;
    char tool[32];
    assert_int_equal(list->via.array.size, 4);
    must(mc_get_str(&list->via.array.ptr[3], "tool", tool, sizeof tool, &why));
    assert_string_equal(tool, "mc-acts");
    must(mc_get_array(&list->via.array.ptr[3], "parents", &parents, &why));
    assert_int_equal(parents->via.array.size, 2);
    assert_int_equal(parents->via.array.ptr[0].via.u64, 1);
    assert_int_equal(parents->via.array.ptr[1].via.u64, 2);
    must(mc_get_array(&list->via.array.ptr[3], "args", &args, &why));
    assert_int_equal(args->via.array.size, 4);
    assert_true(mc_is_str(&args->via.array.ptr[2].via.array.ptr[1], "post"));
    assert_true(mc_is_str(&args->via.array.ptr[3].via.array.ptr[0], "late"));
    assert_true(mc_is_str(&args->via.array.ptr[3].via.array.ptr[1], "final"));
    must(mc_reader_rest(r, NULL, &why));
    assert_int_equal(mc_reader_n_inputs(r), 2);
    assert_string_equal(mc_reader_input(r, 0), id[1]);
    assert_string_equal(mc_reader_input(r, 1), id[2]);
    mc_reader_close(r);

    /* a hidden history changes neither the id nor the inputs */
    char hidden_id[MC_ID_LEN];
    mc_history_hide(h);
    write_small(p[3], h, 3, hidden_id);
    mc_history_free(h);
    assert_string_equal(hidden_id, id[3]);
    must(mc_reader_open(&r, p[3], &why));
    assert_int_equal(mc_reader_history(r)->via.array.size, 0);
    must(mc_reader_rest(r, NULL, &why));
    assert_int_equal(mc_reader_n_inputs(r), 2);
    mc_reader_close(r);
}

/* Append an entry of `tool` with these arguments to the history of x.mcz. */
static void and_then(const char *tool, const char *a, const char *b)
{
    struct mc_history *h = history_of(tool, 1, 1, (const char *[]){"x.mcz"});

    if (a)
        mc_history_str(h, "a", a);
    if (b)
        mc_history_str(h, "b", b);
    write_small("x.mcz", h, 1, NULL);
    mc_history_free(h);
}

static int pair_of(char pair[2][MC_ID_LEN])
{
    struct mc_reader *r = NULL;

    must(mc_reader_open(&r, "x.mcz", &why));
    const int found = mc_history_pair(mc_reader_history(r), pair);
    mc_reader_close(r);
    return found;
}

TEST(pair_is_found_in_streams_derived_from_its_moments)
{
    static const char a[] = "0123456789abcdef0123456789abcdef",
                      b[] = "fedcba9876543210fedcba9876543210";
    char pair[2][MC_ID_LEN];
    struct mc_history *h = history_of("mc-acts", 1, 0, NULL);

    mc_history_set_pair(h, a, b);
    write_small("x.mcz", h, 0, NULL);
    mc_history_free(h);
    assert_true(pair_of(pair));
    and_then("mc-corr", NULL, NULL);
    and_then("mc-hungarian", a, "too short"); /* not an id, so the pair is ignored */
    assert_true(pair_of(pair));
    assert_string_equal(pair[0], a);
    assert_string_equal(pair[1], b);
    and_then("mc-hungarian", b, a); /* the nearest entry is used */
    assert_true(pair_of(pair));
    assert_string_equal(pair[0], b);
    and_then("mc-permute", NULL, NULL); /* mc-permute makes another permutation */
    assert_false(pair_of(pair));
    assert_string_equal(pair[0], "");
    assert_string_equal(pair[1], "");
    h = history_of("mc-corr", 1, 0, NULL); /* without inputs */
    write_small("x.mcz", h, 0, NULL);
    mc_history_free(h);
    assert_false(pair_of(pair));
    h = mc_history_new("mc-acts");
    mc_history_hide(h);
    write_small("x.mcz", h, 0, NULL);
    mc_history_free(h);
    assert_false(pair_of(pair));
}

TEST(output_fails_if_input_was_not_read_to_its_end)
{
    struct mc_reader *r = NULL;
    struct mc_writer *w = NULL;
    struct mc_history *h = mc_history_new("mc-x");

    write_small("in.mcz", NULL, 1, NULL);
    must(mc_reader_open(&r, "in.mcz", &why));
    mc_history_input(h, r);
    must(mc_writer_open(&w, "out.mcz", &(struct mc_header){"test", NULL, NULL, 0}, h, &why));
    must_fail(mc_writer_close(w, 0, NULL, &why), MC_EUSAGE, "");
    assert_int_equal(access("out.mcz", F_OK), -1);
    /* the reader may reach its end while the output is open, and be closed before it */
    must(mc_writer_open(&w, "out.mcz", &(struct mc_header){"test", NULL, NULL, 0}, h, &why));
    must(mc_reader_rest(r, NULL, &why));
    mc_reader_close(r);
    must(mc_writer_close(w, 0, NULL, &why));
    assert_int_equal(access("out.mcz", F_OK), 0);
    mc_history_free(h);
}

int main(void)
{
    return run_entered(enter_folder, remove_all);
}
