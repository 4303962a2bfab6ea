/* SPDX-License-Identifier: Apache-2.0
 *
 * A stream that passes from C to Python and back has the same bits, and the same content id in all
 * three places. */
#include "formats/stream/history.h"
#include "formats/stream/pack.h"
#include "formats/stream/reader.h"
#include "formats/stream/writer.h"
#include "libcommon/base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { N = 12 };

static void must(int rc, const struct mc_error *err)
{
    if (rc)
        fail_msg("%d: %s", rc, err->text);
}

/* Every dtype with random bits, including NaN payloads; scalars, empty tensors, one of 2 records. */
static void make_tensors(struct mc_tensor *t, unsigned char **data)
{
    for (uint32_t i = 0; i < N; i++) {
        char name[32];
        snprintf(name, sizeof name, "tensor \xc3\xbc.%u", i);
        uint64_t shape[3] = {i % 5, 3, 1 + i % 2};
        t[i] = mc_tensor_make(name, (enum mc_dtype)(i % MC_N_DTYPES), i == 7 ? 0 : (int)(i % 4),
                              shape);
        if (i == 11)
            t[i] = mc_tensor_make(name, MC_F32, 2, (uint64_t[]){2500, 4096}); /* 39 MiB */
        size_t n = mc_tensor_bytes(&t[i]);
        data[i] = malloc(n + 16);
        assert_non_null(data[i]);
        for (size_t k = 0; k < n; k += 16) {
            struct mc_rng4 r = mc_rng(1, MC_RNG_SYNTH, i, (uint32_t)(k / 16), 0);
            memcpy(data[i] + k, &r, 16);
        }
        if (t[i].dtype == MC_F32 && n >= 12)
            memcpy(data[i], (uint32_t[]){0x7f812345, 0x80000000, 0xffc00001}, 12);
    }
}

static void python_and_c_agree_to_the_bit(void **state)
{
    const char *root = getenv("MC_ROOT");
    char folder[] = "/tmp/mc-test-mcz-XXXXXX", command[1024], a[64], b[64], line[128];
    char id[MC_ID_LEN], read_id[64] = "", written_id[64] = "";
    struct mc_tensor t[N];
    unsigned char *data[N];
    void *back[N];
    struct mc_error err = {0};
    struct mc_writer *w = NULL;
    struct mc_reader *r = NULL;
    struct mc_history *h = mc_history_new("mc-test");
    struct mc_pack meta, again;
    FILE *p = NULL;

    (void)state;
    if (access("/usr/bin/python3", X_OK) ||
        system("/usr/bin/python3 -c 'import msgpack, zstandard, xxhash, numpy' 2>/dev/null"))
        skip();
    assert_non_null(mkdtemp(folder));
    snprintf(a, sizeof a, "%s/a.mcz", folder);
    snprintf(b, sizeof b, "%s/b.mcz", folder);
    make_tensors(t, data);
    assert_non_null(h);
    mc_history_str(h, "text", "\xe2\x82\xac");
    mc_history_int(h, "seed", INT64_MIN);
    mc_history_num(h, "rate", 0.1);
    mc_pack_init(&meta);
    mc_pack_map(&meta, 3);
    mc_pack_str(&meta, "list");
    mc_pack_array(&meta, 4);
    mc_pack_u64(&meta, UINT64_MAX);
    mc_pack_i64(&meta, -129);
    mc_pack_f64(&meta, -0.0);
    mc_pack_bool(&meta, 1);
    mc_pack_str(&meta, "long text");
    mc_pack_str(&meta, "0123456789012345678901234567890123456789");
    mc_pack_str(&meta, "none");
    mc_pack_map(&meta, 0);
    must(mc_writer_open(&w, a, &(struct mc_header){"test", &meta, t, N}, h, &err), &err);
    for (size_t i = 0; i < N; i++)
        must(mc_writer_tensor(w, i, data[i], &err), &err);
    must(mc_writer_close(w, 0, id, &err), &err);
    mc_history_free(h);

    snprintf(command, sizeof command, "/usr/bin/python3 %s/tests/parity/mcz_echo.py %s %s",
             root ? root : ".", a, b);
    assert_non_null(p = popen(command, "r"));
    assert_non_null(fgets(line, sizeof line, p));
    assert_int_equal(pclose(p), 0);
    assert_int_equal(sscanf(line, "%63s %63s", read_id, written_id), 2);
    assert_string_equal(read_id, id);
    assert_string_equal(written_id, id);

    must(mc_reader_open(&r, b, &err), &err);
    assert_int_equal(mc_reader_n_tensors(r), N);
    mc_pack_init(&again);
    mc_pack_object(&again, mc_reader_meta(r));
    assert_int_equal(again.buf.size, meta.buf.size);
    assert_memory_equal(again.buf.data, meta.buf.data, meta.buf.size);
    assert_int_equal(mc_reader_history(r)->via.array.size, 1);
    for (size_t i = 0; i < N; i++) {
        assert_memory_equal(mc_reader_tensor(r, i), &t[i], sizeof t[i]);
        back[i] = malloc(mc_tensor_bytes(&t[i]) + 1);
        assert_non_null(back[i]);
    }
    must(mc_reader_rest(r, back, &err), &err);
    assert_string_equal(mc_reader_id(r), id);
    mc_reader_close(r);
    for (size_t i = 0; i < N; i++) {
        if (mc_tensor_bytes(&t[i]))
            assert_memory_equal(back[i], data[i], mc_tensor_bytes(&t[i]));
        free(back[i]);
        free(data[i]);
    }
    mc_pack_release(&meta);
    mc_pack_release(&again);
    unlink(a);
    unlink(b);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(python_and_c_agree_to_the_bit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
