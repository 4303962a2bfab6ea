/* SPDX-License-Identifier: Apache-2.0
 *
 * Stored streams are still read the same: each formats/samples/good-NAME.mcz has the contents of
 * good-NAME.txt, written by another reader (formats/samples/text.py). */
#include "formats/stream/reader.h"
#include "tests/unit/must.h"

#include <dirent.h>

static void put_value(FILE *f, const msgpack_object *o)
{
    char text[40];

    switch (o->type) {
    case MSGPACK_OBJECT_NIL:
        fputs("null", f);
        break;
    case MSGPACK_OBJECT_BOOLEAN:
        fputs(o->via.boolean ? "true" : "false", f);
        break;
    case MSGPACK_OBJECT_POSITIVE_INTEGER:
        fprintf(f, "%llu", (unsigned long long)o->via.u64);
        break;
    case MSGPACK_OBJECT_NEGATIVE_INTEGER:
        fprintf(f, "%lld", (long long)o->via.i64);
        break;
    case MSGPACK_OBJECT_FLOAT32:
    case MSGPACK_OBJECT_FLOAT64:
        snprintf(text, sizeof text, "%.17g", o->via.f64);
        fprintf(f, "%s%s", text, strpbrk(text, ".en") ? "" : ".0");
        break;
    case MSGPACK_OBJECT_STR:
        fputc('"', f);
        for (uint32_t i = 0; i < o->via.str.size; i++) {
            static const char escaped[] = "\"\\\n\t", letters[] = "\"\\nt";
            const char c = o->via.str.ptr[i], *at = strchr(escaped, c);
            fprintf(f, "%s%c", at ? "\\" : "", at ? letters[at - escaped] : c);
        }
        fputc('"', f);
        break;
    case MSGPACK_OBJECT_ARRAY:
        fputc('[', f);
        for (uint32_t i = 0; i < o->via.array.size; i++) {
            fputs(i ? ", " : "", f);
            put_value(f, &o->via.array.ptr[i]);
        }
        fputc(']', f);
        break;
    case MSGPACK_OBJECT_MAP:
        fputc('{', f);
        for (uint32_t i = 0; i < o->via.map.size; i++) {
            fputs(i ? ", " : "", f);
            put_value(f, &o->via.map.ptr[i].key);
            fputs(": ", f);
            put_value(f, &o->via.map.ptr[i].val);
        }
        fputc('}', f);
        break;
    default:
        fail_msg("type %d", (int)o->type);
    }
}

/* The text of a stream, to be freed. */
static char *text_of(const char *path)
{
    struct mc_reader *r = NULL;
    struct mc_record rec;
    char *text = NULL, **bytes = NULL;
    size_t size = 0, sizes[64] = {0};
    FILE *f = open_memstream(&text, &size), *data[64] = {NULL};
    int rc = 0;

    must(mc_reader_open(&r, path, &why));
    const size_t n = mc_reader_n_tensors(r);
    assert_true(n < 64 && (bytes = calloc(n + 1, sizeof *bytes)));
    for (size_t i = 0; i < n; i++)
        assert_non_null(data[i] = open_memstream(&bytes[i], &sizes[i]));
    while ((rc = mc_reader_next(r, &rec, &why)) > 0)
        for (size_t i = 0; i < rec.bytes; i++)
            fprintf(data[rec.index], "%02x", ((const unsigned char *)rec.data)[i]);
    must(rc);
    fprintf(f, "kind %s\nid %s\ninputs [", mc_reader_kind(r), mc_reader_id(r));
    for (size_t i = 0; i < mc_reader_n_inputs(r); i++)
        fprintf(f, "%s\"%s\"", i ? ", " : "", mc_reader_input(r, i));
    fputs("]\nmeta ", f);
    put_value(f, mc_reader_meta(r));
    fputs("\nhistory ", f);
    put_value(f, mc_reader_history(r));
    fputs("\n", f);
    for (size_t i = 0; i < n; i++) {
        const struct mc_tensor *t = mc_reader_tensor(r, i);
        fprintf(f, "tensor %s %s (", t->name, mc_dtype_name(t->dtype));
        for (int d = 0; d < t->ndim; d++)
            fprintf(f, "%s%llu", d ? "," : "", (unsigned long long)t->shape[d]);
        fclose(data[i]);
        fprintf(f, ") %s\n", bytes[i]);
        free(bytes[i]);
    }
    free(bytes);
    fclose(f);
    mc_reader_close(r);
    return text;
}

TEST(kept_streams_agree_with_their_text)
{
    const char *root = getenv("MC_ROOT");
    char folder_of[4096], path[5000];
    static char kept[65536];
    size_t count = 0;

    snprintf(folder_of, sizeof folder_of, "%s/formats/samples", root ? root : ".");
    DIR *d = opendir(folder_of);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        const size_t n = strlen(e->d_name);
        if (strncmp(e->d_name, "good-", 5) || strcmp(e->d_name + n - 4, ".mcz"))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder_of, e->d_name);
        char *now = text_of(path);
        memcpy(path + strlen(path) - 4, ".txt", 4);
        FILE *f = fopen(path, "rb");
        assert_non_null(f);
        kept[fread(kept, 1, sizeof kept - 1, f)] = 0;
        fclose(f);
        if (strcmp(now, kept))
            fail_msg("%s is now read as\n%s", e->d_name, now);
        free(now);
        count++;
    }
    closedir(d);
    assert_true(count > 12);
}

int main(void)
{
    return run_entered(NULL, NULL);
}
