/* SPDX-License-Identifier: Apache-2.0
 *
 * The reader refuses truncated, damaged and forged streams: every truncation, every single-bit
 * flip, appended bytes, and the bad samples of formats/samples, each with its message. */
#include "tests/unit/formats/outcome.h"

static size_t load(const char *name, unsigned char *bytes)
{
    const char *root = getenv("MC_ROOT");
    char path[512];
    size_t n = 0;
    FILE *f = NULL;

    snprintf(path, sizeof path, "%s/formats/samples/%s", root ? root : ".", name);
    f = fopen(path, "rb");
    if (!f)
        fail_msg("cannot open %s", path);
    n = fread(bytes, 1, MAX, f);
    fclose(f);
    assert_true(n < MAX);
    return n;
}

/* Good samples: all in one zstd block, and one block per object. */
static const char *const samples[] = {"good-stream.mcz", "good-blocks.mcz"};
static struct outcome good, now;
static unsigned char sample[MAX], bytes[MAX];
static size_t size;

static int set_up(void **state)
{
    (void)state;
    return memory_open();
}

static void take(const char *name)
{
    size = load(name, sample);
    read_bytes(sample, size, &good);
    if (good.rc)
        fail_msg("%s: %s", name, good.err.text);
}

static void with_each_sample(void (*check)(void))
{
    for (size_t k = 0; k < sizeof samples / sizeof *samples; k++) {
        take(samples[k]);
        check();
    }
}

static int tear_down(void **state)
{
    (void)state;
    return close(memory_file);
}

static void refused(const char *change, size_t place)
{
    if (now.rc != MC_EINPUT)
        fail_msg("%s %zu: %d %s", change, place, now.rc, now.err.text);
    assert_int_equal(now.err.code, MC_EINPUT);
    assert_non_null(strstr(now.err.text, memory_path));
}

TEST(samples_are_valid)
{
    for (size_t k = 0; k < sizeof samples / sizeof *samples; k++) {
        take(samples[k]);
        assert_int_equal(strlen(good.id), 32);
        assert_true(good.records == 7 && good.n_data > 256);
    }
}

static void shorten(void)
{
    for (size_t n = 0; n < size; n++) {
        read_bytes(sample, n, &now);
        refused("length", n);
    }
}

TEST(every_truncation_is_refused)
{
    with_each_sample(shorten);
}

/* zstd can encode the same data in more than one way: in the window byte, which only sets the
 * amount of memory, in two reserved bits per block that libzstd ignores, and in an offset if the
 * same bytes occur twice. Then all contents must be equal. */
static void flip_bits(void)
{
    size_t harmless = 0, in_window = 0;

    for (size_t bit = 0; bit < size * 8; bit++) {
        memcpy(bytes, sample, size);
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        read_bytes(bytes, size, &now);
        if (now.rc == 0) {
            harmless++;
            assert_true(same(&now, &good));
            in_window += bit / 8 == 5;
        } else {
            refused("bit", bit);
        }
    }
    print_message("%zu of %zu flips change nothing, %zu of them in the window byte\n", harmless,
                  size * 8, in_window);
    assert_true(harmless - in_window <= size * 8 / 200);
}

TEST(every_flipped_bit_is_refused_or_changes_nothing)
{
    with_each_sample(flip_bits);
}

static void append_bytes(void)
{
    memcpy(bytes, sample, size);
    for (int c = 0; c < 256; c++) {
        bytes[size] = (unsigned char)c;
        read_bytes(bytes, size + 1, &now);
        refused("appended", (size_t)c);
        assert_non_null(strstr(now.err.text, "bytes after the end of the stream"));
    }
}

TEST(every_appended_byte_is_refused)
{
    with_each_sample(append_bytes);
}

static void drop_and_double_bytes(void)
{
    for (size_t i = 0; i < size; i++) {
        memcpy(bytes, sample, i);
        memcpy(bytes + i, sample + i + 1, size - i - 1);
        read_bytes(bytes, size - 1, &now);
        refused("without byte", i);
        memcpy(bytes, sample, i);
        bytes[i] = sample[i];
        memcpy(bytes + i + 1, sample + i, size - i);
        read_bytes(bytes, size + 1, &now);
        refused("doubled byte", i);
    }
}

TEST(every_missing_or_doubled_byte_is_refused)
{
    with_each_sample(drop_and_double_bytes);
}

TEST(errors_stay)
{
    struct mc_reader *r = NULL;
    struct mc_record rec;
    int rc = 0;

    take("good-blocks.mcz");
    assert_int_equal(ftruncate(memory_file, 0), 0);
    assert_int_equal(pwrite(memory_file, sample, size - 20, 0), size - 20);
    rc = mc_reader_open(&r, memory_path, &why);
    assert_int_equal(rc, 0);
    while ((rc = mc_reader_next(r, &rec, &why)) > 0)
        ;
    assert_int_equal(rc, MC_EINPUT);
    must_fail(mc_reader_next(r, &rec, &why), MC_EINPUT, "");
    must_fail(mc_reader_rest(r, NULL, &why), MC_EINPUT, "");
    assert_int_equal(mc_reader_next(r, &rec, NULL), MC_EINPUT);
    assert_string_equal(mc_reader_id(r), "");
    assert_int_equal(mc_reader_n_inputs(r), 0);
    mc_reader_close(r);
}

TEST(each_bad_sample_is_refused_for_its_reason)
{
    static char list[MAX + 1];
    size_t n = load("bad.txt", (unsigned char *)list), count = 0;
    char *line = NULL, *rest = list;

    list[n] = 0;
    while ((line = strsep(&rest, "\n")) && *line) {
        char *says = strchr(line, '\t');
        assert_non_null(says);
        *says++ = 0;
        read_bytes(bytes, load(line, bytes), &now);
        if (now.rc != MC_EINPUT || !strstr(now.err.text, says))
            fail_msg("%s: %d %s, not %s", line, now.rc, now.err.text, says);
        count++;
    }
    assert_true(count > 90);
}

int main(void)
{
    return run_entered(set_up, tear_down);
}
