/* SPDX-License-Identifier: Apache-2.0
 *
 * A stream in memory, and everything a reader returns for it, to check whether damage changed
 * anything. Header only. */
#ifndef MC_TEST_OUTCOME_H
#define MC_TEST_OUTCOME_H

#include "formats/stream/pack.h"
#include "formats/stream/reader.h"
#include "tests/unit/must.h"

#include <fcntl.h>
#include <sys/mman.h>

#define MAX 65536

/* Everything that a reader returns for a stream. */
struct outcome {
    int rc;
    struct mc_error err;
    char kind[64], id[MC_ID_LEN];
    uint64_t records;
    size_t n_data, n_text;
    unsigned char data[MAX], text[MAX]; /* records' bytes; header, history and tensors packed */
};

static int memory_file = -1;
static char memory_path[64];

static inline int memory_open(void)
{
    memory_file = memfd_create("stream", 0);
    snprintf(memory_path, sizeof memory_path, "/proc/self/fd/%d", memory_file);
    return memory_file < 0;
}

static inline void memory_put(const unsigned char *bytes, size_t n)
{
    assert_int_equal(ftruncate(memory_file, 0), 0);
    assert_int_equal(pwrite(memory_file, bytes, n, 0), n);
}

/* Read the stream stored by memory_put. */
static inline void read_memory(struct outcome *o)
{
    struct mc_reader *r = NULL;
    struct mc_record rec;
    struct mc_pack p;

    memset(o, 0, offsetof(struct outcome, data));
    o->rc = mc_reader_open(&r, memory_path, &o->err);
    if (o->rc)
        return;
    snprintf(o->kind, sizeof o->kind, "%s", mc_reader_kind(r));
    mc_pack_init(&p);
    mc_pack_object(&p, mc_reader_meta(r));
    mc_pack_object(&p, mc_reader_history(r));
    while ((o->rc = mc_reader_next(r, &rec, &o->err)) > 0) {
        assert_true(o->n_data + rec.bytes <= MAX);
        memcpy(o->data + o->n_data, rec.data, rec.bytes);
        o->n_data += rec.bytes;
    }
    snprintf(o->id, sizeof o->id, "%s", mc_reader_id(r));
    for (size_t i = 0; i < mc_reader_n_inputs(r); i++)
        mc_pack_str(&p, mc_reader_input(r, i));
    for (size_t i = 0; i < mc_reader_n_tensors(r); i++)
        mc_pack_str(&p, mc_reader_tensor(r, i)->name);
    o->records = mc_reader_records(r);
    o->n_text = p.buf.size;
    assert_false(p.failed);
    assert_true(p.buf.size < MAX);
    memcpy(o->text, p.buf.data, p.buf.size);
    mc_pack_release(&p);
    mc_reader_close(r);
}

static inline void read_bytes(const unsigned char *bytes, size_t n, struct outcome *o)
{
    memory_put(bytes, n);
    read_memory(o);
}

static inline int same(const struct outcome *a, const struct outcome *b)
{
    return !strcmp(a->kind, b->kind) && !strcmp(a->id, b->id) && a->records == b->records &&
           a->n_data == b->n_data && !memcmp(a->data, b->data, a->n_data) &&
           a->n_text == b->n_text && !memcmp(a->text, b->text, a->n_text);
}

#endif
