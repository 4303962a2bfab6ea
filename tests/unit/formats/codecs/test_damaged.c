/* SPDX-License-Identifier: Apache-2.0
 *
 * The codecs of every kind on damaged streams: each truncation, each flipped bit and each appended
 * byte of a tiny stream, and streams of every other kind. With a folder as argument, the program
 * writes the streams there: formats/samples/good-KIND.mcz were made so. */
#include "tests/unit/formats/outcome.h"

#include "tests/unit/formats/kinds.h"

static unsigned char sample[MAX], bytes[MAX];
static size_t size;

static int make(const struct kind *k, const char *where, char *path, size_t path_size,
                struct mc_error *err)
{
    struct mc_history *h = mc_history_new("mc-sample");
    int rc = 0;

    if (!h)
        return mc_no_memory(err);
    mc_history_str(h, "kind", k->name);
    snprintf(path, path_size, "%s/good-%s.mcz", where, k->name);
    rc = k->make(path, h, err);
    mc_history_free(h);
    return rc;
}

static void load(const struct kind *k)
{
    char path[256];
    FILE *f = NULL;

    if (make(k, ".", path, sizeof path, &why))
        fail_msg("%s: %s", k->name, why.text);
    assert_non_null(f = fopen(path, "rb"));
    size = fread(sample, 1, MAX, f);
    fclose(f);
    unlink(path);
    assert_true(size > 100 && size < MAX - 1);
}

/* Read with the codec of the kind. */
static int decode(const struct kind *k, const unsigned char *b, size_t n, struct mc_error *err)
{
    memory_put(b, n);
    memset(err, 0, sizeof *err);
    return k->read(memory_path, err);
}

static void refuse(const struct kind *k, const unsigned char *b, size_t n, const char *change,
                   size_t place)
{
    if (decode(k, b, n, &why) != MC_EINPUT || why.code != MC_EINPUT ||
        !strstr(why.text, memory_path))
        fail_msg("%s, %s %zu: %d \"%s\"", k->name, change, place, (int)why.code, why.text);
}

TEST(each_kind_is_read_back)
{
    for (size_t i = 0; i < N_KINDS; i++) {
        load(&kinds[i]);
        if (decode(&kinds[i], sample, size, &why))
            fail_msg("%s: %s", kinds[i].name, why.text);
    }
}

/* Stored streams of this format version remain readable. */
TEST(each_kept_sample_is_read)
{
    const char *root = getenv("MC_ROOT");
    char path[4096];

    for (size_t i = 0; i < N_KINDS; i++) {
        snprintf(path, sizeof path, "%s/formats/samples/good-%s.mcz", root ? root : ".",
                 kinds[i].name);
        must(kinds[i].read(path, &why));
    }
}

TEST(each_kind_refuses_the_others)
{
    char words[64];

    for (size_t i = 0; i < N_KINDS; i++) {
        load(&kinds[i]);
        snprintf(words, sizeof words, " expected, got %s", kinds[i].name);
        for (size_t k = 0; k < N_KINDS; k++) {
            /* a curve contains a permutation and is accepted as one */
            if (k == i ||
                (!strcmp(kinds[k].name, "permutation") && !strcmp(kinds[i].name, "curve")))
                continue;
            must_fail(decode(&kinds[k], sample, size, &why), MC_EINPUT, words);
        }
    }
}

TEST(each_kind_refuses_every_truncation)
{
    for (size_t i = 0; i < N_KINDS; i++) {
        load(&kinds[i]);
        for (size_t n = 0; n < size; n++)
            refuse(&kinds[i], sample, n, "length", n);
    }
}

/* Some zstd bits change nothing (see test_hostile.c): then all contents must be equal. */
TEST(each_kind_refuses_flipped_bits)
{
    static struct outcome good, now;

    for (size_t i = 0; i < N_KINDS; i++) {
        size_t harmless = 0;
        load(&kinds[i]);
        read_bytes(sample, size, &good);
        assert_int_equal(good.rc, 0);
        for (size_t bit = 0; bit < 8 * size; bit++) {
            memcpy(bytes, sample, size);
            bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
            if (decode(&kinds[i], bytes, size, &why) == 0) {
                harmless++;
                read_memory(&now);
                if (now.rc || !same(&now, &good))
                    fail_msg("%s, bit %zu: is read as something else", kinds[i].name, bit);
            } else if (why.code != MC_EINPUT)
                fail_msg("%s, bit %zu: %s", kinds[i].name, bit, why.text);
        }
        assert_true(harmless <= 8 + size * 8 / 200);
    }
}

TEST(each_kind_refuses_appended_bytes)
{
    for (size_t i = 0; i < N_KINDS; i++) {
        load(&kinds[i]);
        memcpy(bytes, sample, size);
        memcpy(bytes + size, sample, size);
        refuse(&kinds[i], bytes, 2 * size, "twice", 0);
        refuse(&kinds[i], bytes, size + 1, "appended", 0);
        bytes[size] = 0;
        refuse(&kinds[i], bytes, size + 1, "appended", 1);
    }
}

static int set_up(void **state)
{
    return memory_open() || enter_folder(state);
}

static int tear_down(void **state)
{
    return close(memory_file) | leave_folder(state);
}

int main(int argc, char **argv)
{
    char path[4096];

    for (size_t i = 0; argc == 2 && i < N_KINDS; i++)
        if (make(&kinds[i], argv[1], path, sizeof path, &why)) {
            fprintf(stderr, "%s\n", why.text);
            return 1;
        }
    return argc == 2 ? 0 : run_entered(set_up, tear_down);
}
