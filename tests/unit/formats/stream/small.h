/* SPDX-License-Identifier: Apache-2.0
 *
 * Small streams for the stream tests: write one with a given history, load a file's bytes, and
 * remove a temporary folder of streams. Header only. */
#ifndef MC_TEST_SMALL_H
#define MC_TEST_SMALL_H

#include "formats/stream/pack.h"
#include "formats/stream/writer.h"
#include "tests/unit/must.h"

static inline size_t slurp(const char *path, unsigned char *buf, size_t size)
{
    FILE *f = fopen(path, "rb");
    size_t n = 0;

    assert_non_null(f);
    n = fread(buf, 1, size, f);
    assert_true(n < size);
    fclose(f);
    return n;
}

/* Write a stream of one float tensor, with meta {k: v}. */
static inline void write_small(const char *path, const struct mc_history *h, float value, char *id)
{
    struct mc_writer *w = NULL;
    struct mc_tensor t = mc_tensor_make("x", MC_F32, 2, (uint64_t[]){2, 3});
    float data[6] = {value, 1, 2, 3, 4, 5};
    struct mc_pack meta;

    mc_pack_init(&meta);
    mc_pack_map(&meta, 1);
    mc_pack_str(&meta, "k");
    mc_pack_str(&meta, "v");
    must(mc_writer_open(&w, path, &(struct mc_header){"test", &meta, &t, 1}, h, &why));
    must(mc_writer_tensor(w, 0, data, &why));
    must(mc_writer_close(w, 0, id, &why));
    mc_pack_release(&meta);
}

/* Remove all streams in the temporary folder, and the folder. */
static inline int remove_all(void **state)
{
    return system("rm -f *.mcz") || leave_folder(state);
}

#endif
