/* SPDX-License-Identifier: Apache-2.0
 *
 * A training run ends at the first epoch whose last step is not finite, and keeps its last good
 * checkpoint. */
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

/* Run with a last step in epoch 2, after every loss, that overflows the network (k 1) or curve. */
static int run_overflow(size_t k, int resume, struct mc_error *err)
{
    struct mc_in_memory data = data_set();
    struct mc_graph *g = network("mlp:bn,7");
    struct mc_train_options o = options(1, 0);
    struct outcome u = {.n_epochs = 0};
    struct mc_weights w = {0};
    struct mc_curve c = {0};
    struct mc_curve_objective l;

    o.checkpoint = file;
    o.resume = resume;
    must(mc_weights_init(&w, g, "test", err));
    must(mc_curve_init(&c, g, MC_CURVE_BEZIER, 3, "test", err));
    init_point(g, 0, w.params);
    for (size_t i = 0; i < 3; i++)
        init_point(g, (uint32_t)i, c.points[i]);
    if (k == 1)
        mc_curve_objective_network(&l, &w);
    else
        mc_curve_objective_curve(&l, &c);
    l.objective.lr = lr_after_one_epoch;
    const int rc = run_job(be, g, &data, &l.objective, &o, record_epoch, &u, err);
    assert_int_equal(u.n_epochs, 1);
    mc_weights_release(&w);
    mc_curve_release(&c);
    mc_graph_free(g);
    mc_in_memory_release(&data, be);
    return rc;
}

TEST(last_good_checkpoint_is_kept)
{
    static const char message[] = "parameters*not finite*epoch 2*--lr";

    for (size_t k = 1; k <= 3; k += 2) {
        char *first = NULL, *second = NULL;
        must_fail(run_overflow(k, 0, &why), MC_EFAIL, message);
        const size_t n = bytes_of(file, &first);
        must_fail(run_overflow(k, 1, &why), MC_EFAIL,
                  message); /* resumed from the good checkpoint */
        assert_int_equal(bytes_of(file, &second), n);
        assert_memory_equal(first, second, n);
        free(first);
        free(second);
        assert_int_equal(unlink(file), 0);
    }
}

int main(void)
{
    return run_entered(start_backend, stop_backend);
}
