/* SPDX-License-Identifier: Apache-2.0
 *
 * Weights in several safetensors files ("shards"), as Hugging Face's save_pretrained writes them:
 *
 *     model.safetensors.index.json    {"metadata": {...}, "weight_map": {tensor: shard, ...}}
 *     model-00001-of-00002.safetensors, ...
 *
 * All shards are opened and compared with the index first. */
#include "formats/exchange/foreign.h"
#include "formats/exchange/json_object.h"
#include "libcommon/base/alloc.h"
#include "libcommon/base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INDEX "*.safetensors.index.json"
#define INDEX_BYTES ((size_t)32 << 20)
/* two values per tensor */
static const struct mc_json_limits LIMITS = {.values = (size_t)3 * MC_FOREIGN_TENSORS, .depth = 8};

struct shards {
    struct mc_foreign f; /* first: a struct mc_foreign * is one of these */
    size_t *first;       /* (n_parts + 1) index of each shard's first tensor */
    size_t current;      /* the shard that is read */
};

/* ---- reading --------------------------------------------------------------------------------- */

static int seek(struct mc_foreign *f, size_t i, struct mc_error *err)
{
    struct shards *s = (struct shards *)f;

    while (i < s->first[s->current])
        s->current--;
    while (i >= s->first[s->current + 1])
        s->current++;
    struct mc_foreign *part = f->parts[s->current];
    return part->seek(part, i - s->first[s->current], err);
}

static int read_data(struct mc_foreign *f, void *dst, size_t n, struct mc_error *err)
{
    struct mc_foreign *part = f->parts[((struct shards *)f)->current];

    return part->read(part, dst, n, err);
}

static int end(struct mc_foreign *f, struct mc_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < f->n_parts && !rc; i++)
        rc = f->parts[i]->end(f->parts[i], err);
    return rc;
}

static void close_shards(struct mc_foreign *f)
{
    struct shards *s = (struct shards *)f;

    for (size_t i = 0; i < f->n_parts; i++)
        mc_foreign_close(f->parts[i]);
    free(f->parts);
    free(s->first);
    mc_foreign_release(f);
    free(s);
}

/* ---- the index ------------------------------------------------------------------------------- */

/* A shard is a file of the index's folder: no path leads out of it. */
static int is_shard_name(const char *name)
{
    return !strchr(name, '/') && !fnmatch("?*.safetensors", name, 0);
}

/* List the names of the shards, sorted and each once. They belong to the map. */
static int list_shards(const json_t *map, const char ***out, size_t *n, const char *index,
                       struct mc_error *err)
{
    const char **names = NULL;
    size_t all = 0;
    int rc = mc_new(&names, json_object_size(map), err);

    *n = 0;
    for (void *i = json_object_iter((json_t *)(uintptr_t)map); i && !rc;
         i = json_object_iter_next((json_t *)(uintptr_t)map, i)) {
        const char *shard = json_string_value(json_object_iter_value(i));
        if (!shard || !is_shard_name(shard))
            rc = mc_fail(err, MC_EINPUT,
                         "%s: tensor \"%.100s\": its shard must be a *.safetensors file in the "
                         "index's folder%s%.100s%s",
                         index, json_object_iter_key(i), shard ? " (got \"" : "",
                         shard ? shard : "", shard ? "\")" : "");
        else
            names[all++] = shard;
    }
    if (!rc && all)
        qsort(names, all, sizeof *names, mc_by_bytes);
    for (size_t i = 0; i < all && !rc; i++)
        if (!i || strcmp(names[i], names[i - 1]) != 0)
            names[(*n)++] = names[i];
    if (rc)
        free(names);
    else
        *out = names;
    return rc;
}

/* Open one more shard, and append its tensors. */
static int add_shard(struct shards *s, const char *name, struct mc_error *err)
{
    struct mc_foreign *f = &s->f, *part = NULL;
    const char *slash = strrchr(f->file, '/');
    uint64_t bytes = 0;
    char *path = NULL;
    int fd = -1, rc = 0;

    if (asprintf(&path, "%.*s%s", slash ? (int)(slash + 1 - f->file) : 0, f->file, name) < 0)
        return mc_no_memory(err);
    if (!(rc = mc_file_open(&fd, &bytes, path, MC_EINPUT, err))) {
        close(fd);
        rc = mc_safetensors_open_file(&part, path, err);
    }
    free(path);
    if (rc)
        return rc;
    f->parts[f->n_parts++] = part;
    for (size_t i = 0; i < part->n && !rc; i++) {
        struct mc_foreign_tensor t = part->tensors[i];
        rc = (t.name = strdup(t.name)) ? mc_foreign_add(f, &t, err) : mc_no_memory(err);
        rc = mc_fail_in(rc, err, "%s", f->file);
    }
    s->first[f->n_parts] = f->n;
    return rc;
}

/* Every tensor of the index must be in the shard that the index names, and no other tensor may be
 * in the shards. */
static int compare(const struct shards *s, const json_t *map, const char *const *names,
                   struct mc_error *err)
{
    const struct mc_foreign *f = &s->f;
    size_t part = 0;
    int rc = mc_foreign_expect_once(f, err);

    for (size_t i = 0; i < f->n && !rc; i++) {
        const char *tensor = f->tensors[i].name;
        const char *shard = json_string_value(json_object_get(map, tensor));
        while (i >= s->first[part + 1])
            part++;
        if (!shard)
            rc = mc_fail(err, MC_EINPUT, "%s: \"%.100s\" of %s is not in the index", f->file,
                         tensor, names[part]);
        else if (strcmp(shard, names[part]) != 0)
            rc = mc_fail(err, MC_EINPUT, "%s: \"%.100s\" must be in %.100s (found in %s)", f->file,
                         tensor, shard, names[part]);
    }
    if (rc || f->n == json_object_size(map))
        return rc;
    for (void *i = json_object_iter((json_t *)(uintptr_t)map); i;
         i = json_object_iter_next((json_t *)(uintptr_t)map, i)) {
        size_t k = 0;
        while (k < f->n && strcmp(f->tensors[k].name, json_object_iter_key(i)) != 0)
            k++;
        if (k == f->n)
            return mc_fail(err, MC_EINPUT, "%s: \"%.100s\" is missing in %.100s", f->file,
                           json_object_iter_key(i), json_string_value(json_object_iter_value(i)));
    }
    return 0;
}

static int read_index(json_t **out, const json_t **map, const char *path, struct mc_error *err)
{
    char *text = NULL;
    size_t n = 0;
    int rc = mc_file_text(&text, &n, INDEX_BYTES, path, err);

    if (rc)
        return rc;
    if (n > INDEX_BYTES)
        rc = mc_fail(err, MC_EINPUT, "%s: an index must have at most %zu bytes", path, INDEX_BYTES);
    else if ((rc = mc_json_parse(out, text, n, &LIMITS, err)))
        rc = mc_fail_in(rc, err, "%s: not an index of shards", path);
    free(text);
    if (rc)
        return rc;
    *map = json_object_get(*out, "weight_map");
    return json_is_object(*map) && json_object_size(*map)
               ? 0
               : mc_fail(err, MC_EINPUT,
                         "%s: a \"weight_map\" that names each tensor's shard is required", path);
}

static int open_index(struct mc_foreign **out, const char *path, struct mc_error *err)
{
    const char **names = NULL;
    const json_t *map = NULL;
    struct shards *s = NULL;
    json_t *json = NULL;
    size_t n = 0;
    int rc = mc_new(&s, 1, err);

    if (rc)
        return rc;
    s->f.seek = seek;
    s->f.read = read_data;
    s->f.end = end;
    s->f.close = close_shards;
    if (!(s->f.file = strdup(path)))
        rc = mc_no_memory(err);
    if (rc || (rc = read_index(&json, &map, path, err)) ||
        (rc = list_shards(map, &names, &n, path, err)) || (rc = mc_new(&s->f.parts, n, err)) ||
        (rc = mc_new(&s->first, n + 1, err)))
        goto out;
    for (size_t i = 0; i < n && !rc; i++)
        rc = add_shard(s, names[i], err);
    if (!rc)
        rc = compare(s, map, names, err);
out:
    free(names);
    json_decref(json);
    if (rc)
        close_shards(&s->f);
    else
        *out = &s->f;
    return rc;
}

/* ---- a folder -------------------------------------------------------------------------------- */

static int is_index(const struct dirent *e)
{
    return !fnmatch(INDEX, e->d_name, FNM_PERIOD);
}

static int is_file(const struct dirent *e)
{
    return !fnmatch("*.safetensors", e->d_name, FNM_PERIOD);
}

/* Set *path to the folder's only index or, if it has none, to its only file. */
static int find_in_folder(char **path, const char *folder, struct mc_error *err)
{
    struct dirent **found = NULL;
    int n = scandir(folder, &found, is_index, alphasort), index = n > 0, rc = 0;

    if (!n) {
        free(found);
        n = scandir(folder, &found, is_file, alphasort);
    }
    if (n < 0)
        return mc_fail(err, MC_EFAIL, "cannot read the folder '%s': %s", folder, strerror(errno));
    if (!n)
        rc = mc_fail(err, MC_EINPUT, "%s: a folder without safetensors files", folder);
    else if (n > 1)
        rc = mc_fail(err, MC_EINPUT, "%s: a folder with %d %s (name one: %.200s, %.200s%s)", folder,
                     n, index ? "indexes" : "safetensors files and no index", found[0]->d_name,
                     found[1]->d_name, n > 2 ? ", ..." : "");
    else if (asprintf(path, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/",
                      found[0]->d_name) < 0)
        rc = mc_no_memory(err);
    for (int i = 0; i < n; i++)
        free(found[i]);
    free(found);
    return rc;
}

int mc_safetensors_is_folder(const char *path)
{
    struct stat st;

    return strcmp(path, "-") != 0 && !stat(path, &st) && S_ISDIR(st.st_mode);
}

int mc_safetensors_is_index(const char *path)
{
    return !fnmatch(INDEX, path, 0);
}

/* Return 1 if the text of the index at `path` contains the quoted name. */
static int names_file(const char *path, const char *name)
{
    char *text = NULL, *quoted = NULL;
    size_t n = 0;
    int found = !mc_file_text(&text, &n, INDEX_BYTES, path, NULL) &&
                asprintf(&quoted, "\"%s\"", name) >= 0 && memmem(text, n, quoted, strlen(quoted));

    free(text);
    free(quoted);
    return found;
}

void mc_safetensors_find_index(char **index, const char *file)
{
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    struct dirent **found = NULL;
    char *folder = NULL, *path = NULL;
    int n = asprintf(&folder, "%.*s", (int)(name - file), file) < 0
                ? 0
                : scandir(slash ? folder : ".", &found, is_index, alphasort);

    *index = NULL;
    for (int i = 0; i < n; i++) {
        if (!*index && asprintf(&path, "%s%s", folder, found[i]->d_name) >= 0) {
            if (names_file(path, name))
                *index = path;
            else
                free(path);
        }
        free(found[i]);
    }
    free(found);
    free(folder);
}

int mc_safetensors_open(struct mc_foreign **out, const char *path, struct mc_error *err)
{
    char *inside = NULL;
    int rc = mc_safetensors_is_folder(path) ? find_in_folder(&inside, path, err) : 0;

    *out = NULL;
    if (!rc) {
        const char *file = inside ? inside : path;
        rc = mc_safetensors_is_index(file) ? open_index(out, file, err)
                                           : mc_safetensors_open_file(out, file, err);
    }
    free(inside);
    return rc;
}
