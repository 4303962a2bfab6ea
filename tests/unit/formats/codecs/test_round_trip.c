/* SPDX-License-Identifier: Apache-2.0
 *
 * The codecs read back what they write. */
#include "tests/unit/formats/kinds.h"
#include "tests/unit/must.h"

#include <sys/stat.h>

static const struct mc_stream from_file = {.path = file};

static void dataset_of(struct mc_dataset_info *info, uint64_t n, enum mc_dtype pixels)
{
    *info = (struct mc_dataset_info){.name = "set",
                                     .split = "test",
                                     .order = "shuffled with seed 3",
                                     .n = n,
                                     .pixels = pixels,
                                     .spec = {.channels = 3,
                                              .height = 20,
                                              .width = 30,
                                              .classes = 7,
                                              .mean = {.4914f, .4822f, .4465f},
                                              .std = {.247f, .243f, .261f}},
                                     .augment = {.rotate = 12.5f,
                                                 .flip = 1,
                                                 .pad = 3,
                                                 .turn = 30,
                                                 .scale = .2f,
                                                 .contrast = .25f,
                                                 .saturation = .5f}};
}

/* Write N images in calls of `step`, with bytes from nth(). */
static void write_dataset(enum mc_dtype pixels, size_t n, size_t step, char *id)
{
    struct mc_dataset_info info;
    struct mc_dataset_writer *d = NULL;
    size_t elems = 3 * 20 * 30, width = mc_dtype_size(pixels);
    unsigned char *images = malloc(n * elems * width);
    int32_t *labels = malloc(n * sizeof *labels);

    assert_true(images && labels);
    dataset_of(&info, n, pixels);
    for (size_t i = 0; i < n * elems; i++)
        put(images, pixels, i, pixels == MC_F32 ? (nth(i) + 2) / 4 : (nth(i) + 2) * 63);
    for (size_t i = 0; i < n; i++)
        labels[i] = (int32_t)(i * i % 7);
    must(mc_dataset_create(&d, file, &info, NULL, &why));
    for (size_t i = 0; i < n; i += step)
        must(mc_dataset_write(d, n - i < step ? n - i : step, images + i * elems * width,
                              labels + i, &why));
    must(mc_dataset_commit(d, 0, id, &why));
    free(images);
    free(labels);
}

TEST(data_set_round_trips_in_any_steps)
{
    static const size_t steps[] = {1, 7, 1000, 6000};
    const void *images;
    const int32_t *labels;
    const size_t n = 5000;

    char id[MC_ID_LEN], again[MC_ID_LEN];
    write_dataset(MC_U8, n, n, id);
    write_dataset(MC_U8, n, 13, again);
    assert_string_equal(id, again);
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
        struct mc_dataset_reader *d = NULL;
        size_t got = 0, at = 0;
        must(mc_dataset_open(&d, file, &why));
        const struct mc_dataset_info *info = mc_dataset_get_info(d);
        assert_string_equal(info->order, "shuffled with seed 3");
        assert_true(info->n == n && info->spec.classes == 7 && !info->class_names);
        assert_true(info->spec.mean[1] == .4822f && info->spec.std[2] == .261f);
        assert_true(info->augment.rotate == 12.5f && info->augment.flip && info->augment.pad == 3);
        assert_true(info->augment.turn == 30 && info->augment.scale == .2f);
        assert_true(info->augment.contrast == .25f && info->augment.saturation == .5f);
        do {
            must(mc_dataset_lend(d, steps[s], &images, &labels, &got, &why));
            assert_true(got <= steps[s]);
            for (size_t i = 0; i < got; i++) {
                assert_int_equal(labels[i], (at + i) * (at + i) % 7);
                assert_int_equal(((const uint8_t *)images)[i * 1800 + 5],
                                 (uint8_t)((double)(nth((at + i) * 1800 + 5) + 2) * 63));
            }
            at += got;
        } while (got);
        assert_int_equal(at, n);
        assert_string_equal(mc_reader_id(mc_dataset_stream(d)), id);
        mc_dataset_close(d);
    }
}

TEST(data_set_of_reals_round_trips)
{
    struct mc_dataset_reader *d = NULL;
    char id[MC_ID_LEN];
    const void *image;
    const int32_t *label;
    size_t got = 0;

    write_dataset(MC_F32, 300, 300, id);
    must(mc_dataset_open(&d, file, &why));
    for (size_t n = 0; n < 300; n++) {
        must(mc_dataset_lend(d, 1, &image, &label, &got, &why));
        assert_int_equal(got, 1);
        assert_int_equal(*label, n * n % 7);
        for (size_t i = 0; i < 1800; i += 97)
            assert_true(((const float *)image)[i] == (nth(n * 1800 + i) + 2) / 4);
    }
    must(mc_dataset_lend(d, 1, &image, &label, &got, &why));
    assert_int_equal(got, 0);
    assert_string_equal(mc_reader_id(mc_dataset_stream(d)), id);
    mc_dataset_close(d);
}

TEST(invalid_data_set_is_not_written)
{
    struct mc_dataset_info info;
    struct mc_dataset_writer *d = NULL;
    uint8_t image[1800] = {0};
    int32_t label = 7;

    dataset_of(&info, 0, MC_U8);
    must_fail(mc_dataset_create(&d, file, &info, NULL, &why), MC_EINPUT, "");
    dataset_of(&info, 1, MC_F64);
    must_fail(mc_dataset_create(&d, file, &info, NULL, &why), MC_EINPUT, "");
    dataset_of(&info, 1, MC_U8);
    must(mc_dataset_create(&d, file, &info, NULL, &why));
    must(mc_dataset_write(d, 1, image, &label, &why));
    must_fail(mc_dataset_commit(d, 0, NULL, &why), MC_EINPUT, "");
    dataset_of(&info, 2, MC_U8); /* one image missing */
    label = 0;
    must(mc_dataset_create(&d, file, &info, NULL, &why));
    must(mc_dataset_write(d, 1, image, &label, &why));
    assert_true(mc_dataset_commit(d, 0, NULL, &why) != 0);
}

TEST(weights_round_trip_and_bad_ones_are_not_written)
{
    struct mc_weights a, b;

    must(make_weights(file, NULL, &why));
    must(mc_weights_read(&a, from_file, NULL, &why));
    must(mc_weights_write(&a, file, NULL, &why));
    must(mc_weights_read(&b, from_file, NULL, &why));
    assert_string_equal(a.id, b.id);
    assert_string_equal(b.dataset, "tiny");
    assert_string_equal(b.graph->net, "mlp:bn,3");
    assert_true((uintptr_t)b.params % 64 == 0 && (uintptr_t)b.stats % 64 == 0);
    assert_memory_equal(a.params, b.params, a.graph->P * sizeof(float));
    assert_memory_equal(a.stats, b.stats, a.graph->S * sizeof(float));
    const struct mc_param *p = &a.graph->params[1];
    assert_true(b.params[p->offset] == nth(1));
    for (size_t i = p->offset + p->count; i < a.graph->params[2].offset; i++)
        assert_true(b.params[i] == 0); /* gaps */
    b.params[p->offset] = NAN;
    must_fail(mc_weights_write(&b, file, NULL, &why), MC_EFAIL, p->tensor.name);
    mc_weights_release(&b);
    must(mc_weights_read(&b, from_file, NULL, &why)); /* the old file is unchanged */
    mc_weights_release(&a);
    mc_weights_release(&b);
}

TEST(curves_round_trip_with_their_permutation)
{
    struct mc_curve a, b;

    must(make_curve(file, NULL, &why));
    must(mc_curve_read(&a, from_file, NULL, &why));
    assert_true(a.n_points == 3 && a.kind == MC_CURVE_BEZIER && a.perm);
    assert_string_equal(a.perm->groups[0].name, "layers.0.linear");
    assert_memory_equal(a.perm->perm[0], tiny_order, sizeof tiny_order);
    assert_true(a.points[2][a.graph->params[1].offset + 1] == nth(202));
    a.kind = MC_CURVE_CHAIN;
    must(mc_curve_write(&a, file, NULL, &why));
    must(mc_curve_read(&b, from_file, NULL, &why));
    assert_true(b.kind == MC_CURVE_CHAIN);
    assert_string_not_equal(a.id, b.id);
    for (size_t i = 0; i < 3; i++)
        assert_memory_equal(a.points[i], b.points[i], a.graph->P * sizeof(float));
    a.points[1][a.graph->params[0].offset] = INFINITY;
    must_fail(mc_curve_write(&a, file, NULL, &why), MC_EFAIL, "");
    struct mc_curve c;
    must_fail(mc_curve_init(&c, a.graph, MC_CURVE_BEZIER, 1, "", &why), MC_EUSAGE, "");
    mc_curve_release(&a);
    mc_curve_release(&b);
}

TEST(matrices_and_permutations_round_trip)
{
    struct mc_matrices m;
    struct mc_perm p;

    must(make_matrices(file, NULL, &why));
    must(mc_matrices_read(&m, from_file, NULL, &why));
    assert_string_equal(m.measure, "correlation");
    assert_true(m.n_groups == 1 && m.groups[0].size == 3 && m.matrices[0].taps == 1);
    assert_true(m.matrices[0].n_dead_a == 0 && m.matrices[0].n_dead_b == 1);
    assert_int_equal(m.matrices[0].dead_b[0], 1);
    for (size_t i = 0; i < 9; i++)
        assert_true(m.matrices[0].value[i] == (i % 3 == 1 ? 0 : (double)(nth(i) / 2)));
    m.matrices[0].value[5] = NAN;
    must_fail(mc_matrices_write(&m, file, NULL, &why), MC_EFAIL, m.groups[0].name);
    mc_matrices_release(&m);
    must(make_permutation(file, NULL, &why));
    must(mc_perm_read(&p, from_file, NULL, NULL, &why));
    assert_memory_equal(p.perm[0], tiny_order, sizeof tiny_order);
    mc_perm_release(&p);
}

TEST(joint_sets_round_trip_with_their_networks)
{
    static const char ids[3][MC_ID_LEN] = {"00000000000000000000000000000001",
                                           "00000000000000000000000000000002",
                                           "00000000000000000000000000000003"};
    const struct mc_perm p = tiny_perm();
    const size_t second = 1;
    struct mc_joint_perm j = {0}, back = {0};
    struct mc_perm one = {0};

    must(mc_joint_perm_init(&j, 3, p.groups, p.n_groups, &why));
    mc_perm_copy(&j.members[1], &p);
    mc_joint_perm_set_ids(&j, ids);
    must(mc_joint_perm_write(&j, file, NULL, &why));
    must(mc_joint_perm_read(&back, from_file, NULL, &why));
    assert_int_equal(back.n_members, 3);
    assert_memory_equal(back.members[1].perm[0], tiny_order, sizeof tiny_order);
    assert_int_equal(mc_joint_perm_find(&back, ids[2]), 2);
    assert_int_equal(mc_joint_perm_find(&back, ""), 3);
    assert_string_equal(back.members[2].ids[0], ids[0]); /* the first is the identity */
    assert_string_equal(back.members[2].ids[1], ids[2]);
    must_fail(mc_perm_read(&one, from_file, NULL, NULL, &why), MC_EINPUT, "a joint set of 3");
    /* the map from the third network to the second is the inverse of the second's */
    must(mc_joint_perm_get(&one, &back, 2, &second, &why));
    assert_string_equal(one.ids[0], ids[1]);
    assert_string_equal(one.ids[1], ids[2]);
    for (int32_t i = 0; i < 3; i++)
        assert_int_equal(one.perm[0][tiny_order[i]], i);
    mc_perm_release(&one);
    must(mc_joint_perm_follow(&back, &p, &why));
    assert_memory_equal(back.members[0].perm[0], tiny_order, sizeof tiny_order);
    mc_joint_perm_set_ids(&back, ids);
    assert_string_equal(back.members[2].ids[0], ""); /* not the order of a network */
    mc_joint_perm_release(&back);
    must(make_permutation(file, NULL, &why));
    must(mc_joint_perm_read(&back, from_file, NULL, &why));
    assert_int_equal(back.n_members, 1);
    mc_joint_perm_release(&back);
    mc_joint_perm_release(&j);
}

/* Three shards of 5 images in batches of 2, and a tap with 4 samples per image. */
static void make_shards(struct mc_moments part[3])
{
    struct mc_taps taps = tiny_taps();

    for (uint32_t s = 0; s < 3; s++) {
        must(mc_moments_init(&part[s], &taps, &why));
        part[s].shard = s;
        part[s].cut = (struct mc_cut){5, 2, 3};
        part[s].images = mc_cut_before(&part[s].cut, s + 1) - mc_cut_before(&part[s].cut, s);
        part[s].taps.taps[0].samples = 4 * part[s].images;
        for (size_t i = 0; i < 21; i++)
            part[s].sums[0][i] = s * (double)i;
    }
}

/* Write and read back. */
static int reread(struct mc_moments *out, const struct mc_moments *m)
{
    must(mc_moments_write(m, file, NULL, &why));
    return mc_moments_read(out, (struct mc_stream){.path = file}, NULL, &why);
}

/* Shards add to the same sums in any order and grouping, once each. */
TEST(moments_add)
{
    struct mc_moments part[3], sum;

    make_shards(part);
    strcpy(part[2].conditions.attack, "pgd:eps=0.1");
    must_fail(mc_moments_add(&part[2], &part[0], &why), MC_EINPUT,
              "different attacks*pgd:eps=0.1*none");
    strcpy(part[0].conditions.attack, part[2].conditions.attack);
    strcpy(part[1].conditions.attack, part[2].conditions.attack);
    part[0].conditions.seed = 7;
    must_fail(mc_moments_add(&part[2], &part[0], &why), MC_EINPUT, "");
    part[1].conditions.seed = part[2].conditions.seed = 7;
    part[1].conditions.precision = part[2].conditions.precision = MC_PRECISION_BF16;
    must_fail(mc_moments_add(&part[2], &part[0], &why), MC_EINPUT,
              "different precisions (bf16 and f32)");
    part[0].conditions.precision = MC_PRECISION_BF16;
    must(mc_moments_add(&part[2], &part[0], &why));
    must_fail(mc_moments_expect_whole(&part[2], &why), MC_EINPUT, "shard 2 of 3*missing");
    must(reread(&sum, &part[2]));
    must_fail(mc_moments_expect_whole(&sum, &why), MC_EINPUT, "shard 2 of 3*missing");
    assert_string_equal(sum.conditions.attack, "pgd:eps=0.1");
    assert_true(sum.conditions.seed == 7);
    assert_int_equal(sum.conditions.precision, MC_PRECISION_BF16);
    assert_true(sum.cut.total == 5 && sum.cut.batch == 2);
    must_fail(mc_moments_add(&sum, &part[0], &why), MC_EINPUT, "shard 1 of 3*repeated");
    must_fail(mc_moments_add(&sum, &part[2], &why), MC_EINPUT, "");
    must(mc_moments_add(&sum, &part[1], &why));
    must(mc_moments_expect_whole(&sum, &why));
    assert_true(sum.images == 5 && sum.taps.taps[0].samples == 20);
    for (size_t i = 0; i < 21; i++)
        assert_true(sum.sums[0][i] == 3 * (double)i);

    strcpy(part[1].inputs[0], "00000000000000000000000000000000");
    strcpy(part[0].inputs[0], "11111111111111111111111111111111");
    must_fail(mc_moments_add(&part[1], &part[0], &why), MC_EINPUT, "different first networks");
    part[0].inputs[0][0] = 0;
    part[0].taps.taps[0].start = 1;
    must_fail(mc_moments_add(&part[1], &part[0], &why), MC_EINPUT, "");
    for (size_t s = 0; s < 3; s++)
        mc_moments_release(&part[s]);
    mc_moments_release(&sum);
}

/* A shard of another cut is refused, whichever number differs. */
TEST(moments_of_other_cuts_do_not_add)
{
    static const struct {
        struct mc_cut cut;
        const char *text;
    } others[] = {{{5, 2, 4}, "shard*3*added*shard*4"},
                  {{6, 2, 3}, "shards*runs over 5*over 6 images"},
                  {{5, 1, 3}, "shards*different batch sizes (2 and 1)"}};
    struct mc_moments part[3];

    make_shards(part);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        part[1].cut = others[i].cut;
        must_fail(mc_moments_add(&part[0], &part[1], &why), MC_EINPUT, others[i].text);
    }
    part[1].cut = part[0].cut;
    must(mc_moments_add(&part[1], &part[0], &why));
    must_fail(mc_moments_expect_whole(&part[1], &why), MC_EINPUT, "shard 3 of 3*missing");
    must(mc_moments_add(&part[1], &part[2], &why));
    must(mc_moments_expect_whole(&part[1], &why));
    part[1].images--;
    must_fail(mc_moments_expect_whole(&part[1], &why), MC_EINPUT,
              "5 images expected*all shards*got 4");
    for (size_t s = 0; s < 3; s++)
        mc_moments_release(&part[s]);
}

/* A stream's images must match its shards and cut. */
TEST(moments_have_the_images_of_their_cut)
{
    struct mc_moments part[3], back;

    make_shards(part);
    part[1].images = 1;
    part[1].taps.taps[0].samples = 4;
    must_fail(reread(&back, &part[1]), MC_EINPUT, "\"images\"*2*shards*5 (got 1)");
    part[0].cut.shards = 1;
    must_fail(reread(&back, &part[0]), MC_EINPUT, "\"images\"*5*shards*5 (got 2)");
    part[2].cut.batch = 0;
    must_fail(reread(&back, &part[2]), MC_EINPUT, "must be at least 1");
    for (size_t s = 0; s < 3; s++)
        mc_moments_release(&part[s]);
}

TEST(activations_cycle_through_taps)
{
    struct mc_tap_info taps[2] = {{.name = "a", .count = 2}, {.name = "b", .count = 3}};
    struct mc_taps t = tiny_taps();
    struct mc_activations_writer *w = NULL;
    struct mc_activations_reader *r = NULL;
    float data[24];
    size_t turn = 0, tap = 0, n = 0, hw = 0;
    const float *got = NULL;
    int rc = 0;

    t.taps = taps;
    t.n_taps = 2;
    must(mc_activations_create(&w, file,
                               &(struct mc_activations_shape){
                                   &t, (const int[][2]){{2, 2}, {1, 1}}, 5, 2, {.attack = "pgd"}},
                               NULL, &why));
    for (size_t first = 0; first < 5; first += 2)
        for (size_t k = 0; k < 2; k++, turn++) {
            for (size_t i = 0; i < 24; i++)
                data[i] = nth(turn * 100 + i);
            if (!turn)
                must_fail(mc_activations_write(w, 1, 2, data, &why), MC_EUSAGE, "");
            must(mc_activations_write(w, k, first < 4 ? 2 : 1, data, &why));
        }
    must(mc_activations_commit(w, 0, &why));
    must(mc_activations_open(&r, file, &why));
    assert_int_equal(r->position.images, 5);
    assert_string_equal(r->conditions.attack, "pgd");
    assert_int_equal(r->taps.taps[0].samples, 20);
    for (turn = 0; (rc = mc_activations_next(r, &tap, &n, &got, &hw, &why)) == 1; turn++) {
        assert_true(tap == turn % 2 && n == (turn < 4 ? 2 : 1) && hw == (tap ? 1 : 4));
        for (size_t i = 0; i < n * hw * taps[tap].count; i++)
            assert_true(got[i] == nth(turn * 100 + i));
    }
    must(rc);
    assert_int_equal(turn, 6);
    mc_activations_close(r);
}

TEST(checkpoint_keeps_any_bits)
{
    float data[5] = {NAN, -0.0f, INFINITY, 1e-45f, 3}, back[5] = {0};
    struct mc_checkpoint s;

    tiny_state(&s, data);
    must(mc_checkpoint_write(&s, file, &why));
    assert_true(mc_checkpoint_exists(file));
    tiny_state(&s, back);
    s.epoch = 0;
    must(mc_checkpoint_read(&s, file, &why));
    assert_int_equal(s.epoch, 2);
    assert_memory_equal(data, back, sizeof data);
    assert_false(mc_checkpoint_exists("/nonexistent/state.mcz"));
}

/* A checkpoint truncated in its end record, after all numbers: nothing is changed. */
TEST(damaged_checkpoint_changes_nothing)
{
    float data[5] = {1, 2, 3, 4, 5}, back[5] = {6, 7, 8, 9, 10}, before[5];
    struct mc_checkpoint s;
    struct stat st;

    memcpy(before, back, sizeof back);
    tiny_state(&s, data);
    must(mc_checkpoint_write(&s, file, &why));
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(truncate(file, st.st_size - 1), 0);
    tiny_state(&s, back);
    s.epoch = 77;
    must_fail(mc_checkpoint_read(&s, file, &why), MC_EINPUT, "");
    assert_int_equal(s.epoch, 77);
    assert_memory_equal(back, before, sizeof back);
}

/* A checkpoint made with the first value, read by a run with the second, and the end of the
 * message. */
TEST(losses_of_too_many_images_are_not_written)
{
    double t[2] = {0, 1}, chord[1] = {.5};
    struct mc_losses_data data = {.name = "test", .id = "none", .images = MC_LOSSES_MAX_IMAGES + 1};
    struct mc_losses l = {.T = 2, .t = t, .chord = chord, .data = &data, .n_data = 1};

    must_fail(mc_losses_write(&l, file, NULL, &why), MC_EFAIL, "more than 4194304 images");
}

TEST(refusal_names_the_difference)
{
    static const char *const cases[][4] = {
        {"threads", "2", "1", ":*2 threads*run*1"},
        {"threads", "1", "2", ":*1 thread*run*2"},
        {"isa", "avx2", "portable", ":*isa avx2*run*portable"},
        {"device", "cuda", "cpu", ":*device cuda*run*cpu"},
        {"precision", NULL, "bf16", ":*made without precision bf16*run"},
        {"precision", "bf16", NULL, ":*made*precision bf16*run without"},
    };
    float data[5] = {0};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const *c = cases[i];
        struct mc_checkpoint s;
        tiny_state(&s, data);
        if (c[1])
            mc_checkpoint_set(&s, c[0], "%s", c[1]);
        must(mc_checkpoint_write(&s, file, &why));
        tiny_state(&s, data);
        if (c[2])
            mc_checkpoint_set(&s, c[0], "%s", c[2]);
        must_fail(mc_checkpoint_read(&s, file, &why), MC_EINPUT, c[3]);
    }
}

int main(void)
{
    return run_entered(enter_folder, leave_folder);
}
