/* SPDX-License-Identifier: Apache-2.0
 *
 * A training run whose last step of an epoch is not finite ends there, and its last good checkpoint
 * stays. */
#include "formats/codecs/curve.h"
#include "tests/unit/tools/train/training.h"

static double lr_after_one_epoch(struct mc_objective *o, struct mc_train *f, uint64_t epoch,
                                 uint64_t step)
{
    (void)o;
    return epoch && step + 1 == f->steps ? 1e60 : .1;
}

static size_t bytes_of(const char *path, char **out)
{
    FILE *f = fopen(path, "rb");

    assert_non_null(f);
    assert_non_null(*out = malloc(1 << 20));
    const size_t n = fread(*out, 1, 1 << 20, f);
    assert_true(n > 0 && n < 1 << 20);
    fclose(f);
    return n;
}

/* The second epoch's last step spoils the network (k 1) or the curve's point, after every loss. */
static int spoilt(size_t k, int resume, struct mc_error *err)
{
    struct mc_in_memory data = data_set();
    struct mc_graph *g = network("mlp:bn,7");
    struct mc_train_options o = options(1, 0);
    struct outcome u = {.n_told = 0};
    struct mc_weights w = {0};
    struct mc_curve c = {0};
    struct mc_curve_objective l;

    o.checkpoint = checkpoint;
    o.resume = resume;
    ok(mc_weights_init(&w, g, "test", err), err);
    ok(mc_curve_init(&c, g, MC_CURVE_BEZIER, 3, "test", err), err);
    begin_at(g, 0, w.params);
    for (size_t i = 0; i < 3; i++)
        begin_at(g, (uint32_t)i, c.points[i]);
    if (k == 1)
        mc_curve_objective_network(&l, &w);
    else
        mc_curve_objective_curve(&l, &c);
    l.objective.lr = lr_after_one_epoch;
    const struct mc_train_job train_job = {.be = be,
                                           .graph = g,
                                           .data = &data,
                                           .objective = &l.objective,
                                           .o = &o,
                                           .tool = "test",
                                           .watch = {.epoch = hear, .arg = &u}};
    const int rc = mc_train_run(&train_job, err);
    assert_int_equal(u.n_told, 1);
    mc_weights_release(&w);
    mc_curve_release(&c);
    mc_graph_free(g);
    mc_in_memory_release(&data, be);
    return rc;
}

static void the_last_good_checkpoint_stays(void **state)
{
    static const char said[] =
        "the steps' result is not finite after epoch 2 (a smaller --lr may help)";

    (void)state;
    for (size_t k = 1; k <= 3; k += 2) {
        struct mc_error err = {0};
        char *first = NULL, *second = NULL;
        assert_int_equal(spoilt(k, 0, &err), MC_EFAIL);
        assert_string_equal(err.text, said);
        const size_t n = bytes_of(checkpoint, &first);
        assert_int_equal(spoilt(k, 1, &err), MC_EFAIL); /* taken up where it was good */
        assert_string_equal(err.text, said);
        assert_int_equal(bytes_of(checkpoint, &second), n);
        assert_memory_equal(first, second, n);
        free(first);
        free(second);
        assert_int_equal(unlink(checkpoint), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_good_checkpoint_stays),
    };
    return cmocka_run_group_tests(tests, start_backend, stop_backend);
}
