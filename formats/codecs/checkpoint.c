/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/codecs/checkpoint.h"

#include "formats/codecs/tensors.h"
#include "libcommon/base/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KIND "checkpoint"
#define VERSION 2

enum { VALUE = sizeof((struct mc_checkpoint_setting *)NULL)->value };

void mc_checkpoint_set(struct mc_checkpoint *s, const char *name, const char *fmt, ...)
{
    va_list ap;

    s->settings[s->n_settings].name = name;
    s->settings[s->n_settings].choices = NULL;
    va_start(ap, fmt);
    vsnprintf(s->settings[s->n_settings].value, sizeof s->settings[0].value, fmt, ap);
    va_end(ap);
    s->n_settings++;
}

void mc_checkpoint_set_choice(struct mc_checkpoint *s, const char *name, int choice,
                              const char *const *choices)
{
    mc_checkpoint_set(s, name, "%d", choice);
    s->settings[s->n_settings - 1].choices = choices;
}

void mc_checkpoint_set_facts(struct mc_checkpoint *s, const struct mc_fact *facts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        mc_checkpoint_set(s, facts[i].name, "%s", facts[i].value);
}

int mc_checkpoint_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/* 1 if the file is a checkpoint: other files must not be overwritten by mistake. */
static int is_checkpoint(const char *path)
{
    struct mc_reader *r = NULL;
    const int yes = !mc_reader_open(&r, path, NULL) && !strcmp(mc_reader_kind(r), KIND);

    mc_reader_close(r);
    return yes;
}

int mc_checkpoint_check_path(const char *path, int resume, struct mc_error *err)
{
    struct stat st;

    if (path && !strcmp(path, "-"))
        return mc_fail(err, MC_EUSAGE, "--checkpoint must be a file, not standard output");
    if (!path || stat(path, &st))
        return 0;
    /* opening a pipe would block */
    if (!S_ISREG(st.st_mode) || (!resume && !is_checkpoint(path)))
        return mc_fail(err, MC_EUSAGE, "--checkpoint: '%s' exists and is not a checkpoint", path);
    if (resume)
        return 0;
    return mc_fail(err, MC_EUSAGE,
                   "checkpoint '%s' exists: resume with --resume, or remove it to start again",
                   path);
}

static void state_layout(struct mc_layout *l, const struct mc_checkpoint *s)
{
    for (size_t i = 0; i < s->n_vectors; i++) {
        const struct mc_checkpoint_vector *v = &s->vectors[i];
        struct mc_tensor t = mc_tensor_make(v->name, MC_F32, 1, (const uint64_t[]){v->n});
        mc_layout_add(l, &t, &v->data);
    }
}

int mc_checkpoint_write(const struct mc_checkpoint *s, const char *path, struct mc_error *err)
{
    struct mc_layout l = {0};

    state_layout(&l, s);
    mc_layout_meta(&l, KIND, 4);
    mc_put_u64(&l.meta, "version", VERSION);
    mc_put_str(&l.meta, "tool", s->tool);
    mc_pack_str(&l.meta, "settings");
    mc_pack_map(&l.meta, s->n_settings);
    for (size_t i = 0; i < s->n_settings; i++)
        mc_put_str(&l.meta, s->settings[i].name, s->settings[i].value);
    mc_put_u64(&l.meta, "epoch", s->epoch);
    return mc_layout_write(&l, path, NULL, err);
}

static int has_setting(const struct mc_checkpoint *s, const msgpack_object *key)
{
    for (size_t i = 0; i < s->n_settings; i++)
        if (mc_is_str(key, s->settings[i].name))
            return 1;
    return 0;
}

/* Copy a setting for a message in the form users type. Each real number in checkpoint form (%.17g),
 * between spaces and colons, gets the shortest form that reads back as the same number. */
static const char *shorten_numbers(char out[VALUE], const char *value)
{
    size_t n = 0;

    for (size_t len; *value && n + 1 < VALUE; value += len) {
        char word[MC_SHORTEST] = "", whole[MC_SHORTEST], text[MC_SHORTEST];
        const char *shown = value;
        size_t shown_len = len = strcspn(value, " :") + !strcspn(value, " :");
        if (len < sizeof word && (memchr(value, '.', len) || memchr(value, 'e', len))) {
            memcpy(word, value, len);
            const double v = strtod(word, NULL);
            snprintf(whole, sizeof whole, "%.17g", v);
            if (!strcmp(whole, word) && strlen(mc_shortest(text, v)) < len) {
                shown = text;
                shown_len = strlen(text);
            }
        }
        if (shown_len > VALUE - 1 - n)
            shown_len = VALUE - 1 - n;
        memcpy(out + n, shown, shown_len);
        n += shown_len;
    }
    out[n] = 0;
    return out;
}

/* A setting's value for a message; a choice is replaced by its name. */
static const char *setting_text(char out[VALUE], const struct mc_checkpoint_setting *s,
                                const char *value)
{
    char *end = NULL;
    const unsigned long choice = strtoul(value, &end, 10);

    for (unsigned long i = 0; s->choices && s->choices[i] && end != value && !*end; i++)
        if (i == choice)
            return strcpy(out, s->choices[i]);
    return shorten_numbers(out, value);
}

/* Report a difference. Counts read "2 threads", other settings "lr 0.1". */
static int differs(const struct mc_checkpoint_setting *setting, const char *saved,
                   struct mc_error *err)
{
    const char *const name = setting->name;
    char before[VALUE], now[VALUE];
    static const char *const counts[] = {"images", "epochs", "points", "threads",
                                         "multiprocessors"};
    setting_text(before, setting, saved);
    setting_text(now, setting, setting->value);
    const int letters = (int)strlen(name) - !strcmp(before, "1"); /* singular */

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (!strcmp(name, counts[i]))
            return mc_fail(err, MC_EINPUT, "was made with %s %.*s, this run has %s", before,
                           letters, name, now);
    return mc_fail(err, MC_EINPUT, "was made with %s %s, this run has %s", name, before, now);
}

static int other_setting(const msgpack_object_kv *kv, struct mc_error *err)
{
    const msgpack_object *k = &kv->key, *v = &kv->val;

    if (k->type != MSGPACK_OBJECT_STR || v->type != MSGPACK_OBJECT_STR)
        return mc_fail(err, MC_EINPUT, "its settings are not strings");
    char saved[VALUE], text[VALUE];
    snprintf(saved, sizeof saved, "%.*s", (int)v->via.str.size, v->via.str.ptr);
    return mc_fail(err, MC_EINPUT, "was made with %.*s %s, this run without", (int)k->via.str.size,
                   k->via.str.ptr, shorten_numbers(text, saved));
}

/* Check that run and checkpoint have the same settings with the same values. */
static int same_settings(const struct mc_checkpoint *s, const struct mc_reader *r,
                         struct mc_error *err)
{
    const msgpack_object *meta = mc_reader_meta(r), *settings = NULL;
    char tool[64], value[sizeof s->settings[0].value];
    int rc = 0;

    if ((rc = mc_get_str(meta, "tool", tool, sizeof tool, err)) ||
        (rc = mc_get_map(meta, "settings", &settings, err)))
        return rc;
    if (strcmp(tool, s->tool))
        return mc_fail(err, MC_EINPUT, "a checkpoint of %s is required (got one of %s)", s->tool,
                       tool);
    for (size_t i = 0; i < s->n_settings; i++) {
        const struct mc_checkpoint_setting *setting = &s->settings[i];
        if (!mc_get_opt(settings, setting->name))
            return mc_fail(err, MC_EINPUT, "was made without %s %s, this run has it", setting->name,
                           setting_text(value, setting, setting->value));
        if ((rc = mc_get_str(settings, setting->name, value, sizeof value, err)))
            return rc;
        if (strcmp(value, setting->value))
            return differs(setting, value, err);
    }
    for (uint32_t k = 0; k < settings->via.map.size; k++)
        if (!has_setting(s, &settings->via.map.ptr[k].key))
            return other_setting(&settings->via.map.ptr[k], err);
    return 0;
}

static int expect_version(const struct mc_reader *r, struct mc_error *err)
{
    uint64_t version = 0;
    int rc = mc_reader_expect(r, KIND, err);

    if (rc)
        return rc;
    if ((rc = mc_get_u64(mc_reader_meta(r), "version", UINT32_MAX, &version, err)))
        return mc_fail_in(rc, err, "%s", mc_reader_name(r));
    if (version != VERSION)
        return mc_fail(err, MC_EINPUT, "%s: checkpoint version %llu (this program reads %d)",
                       mc_reader_name(r), (unsigned long long)version, VERSION);
    return 0;
}

int mc_checkpoint_read(struct mc_checkpoint *s, const char *path, struct mc_error *err)
{
    struct mc_checkpoint got = *s;
    struct mc_layout l = {0};
    struct mc_reader *r = NULL;
    uint64_t epoch = 0;
    int rc = 0;

    if ((rc = mc_reader_open(&r, path, err)) || (rc = expect_version(r, err)))
        goto out;
    if ((rc = same_settings(s, r, err)) ||
        (rc = mc_get_u64(mc_reader_meta(r), "epoch", UINT32_MAX, &epoch, err))) {
        mc_fail_in(rc, err, "%s", mc_reader_name(r));
        goto out;
    }
    state_layout(&l, &got);
    if ((rc = mc_layout_read(&l, r, err)))
        goto out;
    for (size_t i = 0; i < s->n_vectors; i++) {
        if (s->vectors[i].n)
            memcpy(s->vectors[i].data, got.vectors[i].data, s->vectors[i].n * sizeof(float));
        free(got.vectors[i].data);
    }
    s->epoch = epoch;
out:
    mc_reader_close(r);
    return rc;
}

/* ---- checkpoints of any program ---- */

#define EVAL_FLOATS 10 /* per point and data set: five float64 as two float32 each */

/* Checkpoints of mc-eval, and the tensor `report` of mc-pam, hold float64 values. All other tensors
 * hold float32. */
struct checked {
    char tool[64];
    uint64_t epoch, points; /* points: mc-eval only */
    int attacked;
};

static int is_eval(const struct checked *c)
{
    return !strcmp(c->tool, "mc-eval");
}

static int check_settings(struct checked *c, const msgpack_object *settings, struct mc_error *err)
{
    for (uint32_t i = 0; i < settings->via.map.size; i++) {
        const msgpack_object *key = &settings->via.map.ptr[i].key,
                             *v = &settings->via.map.ptr[i].val;
        if (v->type != MSGPACK_OBJECT_STR || v->via.str.size >= VALUE)
            return mc_fail(err, MC_EINPUT, "setting \"%.*s\" is not a string of at most %d bytes",
                           key->via.str.size > 80 ? 80 : (int)key->via.str.size, key->via.str.ptr,
                           VALUE - 1);
        c->attacked |= mc_is_str(key, "attack");
    }
    char points[VALUE] = "0";
    int rc = is_eval(c) ? mc_get_str(settings, "points", points, sizeof points, err) : 0;
    if (!rc && (strspn(points, "0123456789") != strlen(points) || strlen(points) > 9))
        return mc_fail(err, MC_EINPUT, "setting \"points\" is not a number of points");
    c->points = strtoull(points, NULL, 10);
    return rc;
}

static int check_tensor(const struct checked *c, const struct mc_tensor *t, struct mc_error *err)
{
    if (t->dtype != MC_F32 || t->ndim != 1)
        return mc_fail(err, MC_EINPUT, "tensor \"%s\" is not float32 (n)", t->name);
    if (is_eval(c) && t->shape[0] != c->points * EVAL_FLOATS * (c->attacked ? 2 : 1))
        return mc_fail(err, MC_EINPUT,
                       "tensor \"%s\" has %llu numbers, which do not fit %llu points", t->name,
                       (unsigned long long)t->shape[0], (unsigned long long)c->points);
    return 0;
}

static int check_meta(struct checked *c, const struct mc_reader *r, struct mc_error *err)
{
    const msgpack_object *meta = mc_reader_meta(r), *settings = NULL;
    int rc = 0;

    if ((rc = mc_get_str(meta, "tool", c->tool, sizeof c->tool, err)) ||
        (rc = mc_get_map(meta, "settings", &settings, err)) ||
        (rc = check_settings(c, settings, err)) ||
        (rc = mc_get_u64(meta, "epoch", UINT32_MAX, &c->epoch, err)))
        return rc;
    if (is_eval(c) && c->epoch > c->points)
        return mc_fail(err, MC_EINPUT, "\"epoch\" is %llu of %llu points",
                       (unsigned long long)c->epoch, (unsigned long long)c->points);
    for (size_t i = 0; i < mc_reader_n_tensors(r) && !rc; i++)
        rc = check_tensor(c, mc_reader_tensor(r, i), err);
    return rc;
}

int mc_checkpoint_check(struct mc_reader *r, struct mc_error *err)
{
    struct checked c = {0};
    struct mc_record rec;
    size_t last = 0;
    int rc = expect_version(r, err);

    if (rc || (rc = mc_fail_in(check_meta(&c, r, err), err, "%s", mc_reader_name(r))))
        return rc;
    while ((rc = mc_next_in_order(r, &rec, &last, err)) == 1) {
        const int doubles =
            is_eval(&c) || (!strcmp(c.tool, "mc-pam") && !strcmp(rec.tensor->name, "report"));
        if (!doubles && (rc = mc_finite(MC_F32, rec.data, rec.bytes / sizeof(float),
                                        mc_reader_name(r), rec.tensor->name, err)))
            return rc;
    }
    return rc;
}
