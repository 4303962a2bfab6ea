/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/stream/history.h"

#include "formats/stream/frame.h"
#include "formats/stream/reader.h"
#include "libcommon/base/alloc.h"

#include <stdlib.h>
#include <string.h>

struct entry {
    struct mc_pack head; /* the packed pairs of "tool", "version" and "args" */
    size_t *parents;
    size_t n_parents;
};

struct mc_history {
    char *tool;
    struct mc_pack args; /* packed pairs [name, value] */
    size_t n_args;
    const struct mc_fact *facts; /* appended to args; borrowed */
    size_t n_facts;
    struct entry **entries; /* entries of the inputs; owned */
    size_t n_entries;
    size_t *parents; /* indices into entries, of this run */
    size_t n_parents;
    struct mc_origin **inputs;
    size_t n_inputs;
    const struct mc_origin *longest; /* the input with the most entries */
    size_t most;
    int hidden;
    int failed;
};

struct mc_history *mc_history_new(const char *tool)
{
    struct mc_history *h = NULL;

    if (mc_new(&h, 1, NULL))
        return NULL;
    mc_pack_init(&h->args);
    if ((h->tool = strdup(tool)))
        return h;
    mc_history_free(h);
    return NULL;
}

static void entry_free(struct entry *e)
{
    if (!e)
        return;
    mc_pack_release(&e->head);
    free(e->parents);
    free(e);
}

void mc_history_free(struct mc_history *h)
{
    if (!h)
        return;
    for (size_t i = 0; i < h->n_entries; i++)
        entry_free(h->entries[i]);
    for (size_t i = 0; i < h->n_inputs; i++)
        mc_origin_drop(h->inputs[i]);
    free(h->entries);
    free(h->inputs);
    free(h->parents);
    mc_pack_release(&h->args);
    free(h->tool);
    free(h);
}

void mc_history_str(struct mc_history *h, const char *name, const char *value)
{
    mc_pack_array(&h->args, 2);
    mc_put_str(&h->args, name, value);
    h->n_args++;
}

void mc_history_int(struct mc_history *h, const char *name, int64_t value)
{
    mc_pack_array(&h->args, 2);
    mc_pack_str(&h->args, name);
    mc_pack_i64(&h->args, value);
    h->n_args++;
}

void mc_history_num(struct mc_history *h, const char *name, double value)
{
    mc_pack_array(&h->args, 2);
    mc_pack_str(&h->args, name);
    mc_pack_f64(&h->args, value);
    h->n_args++;
}

void mc_history_facts(struct mc_history *h, const struct mc_fact *facts, size_t n)
{
    h->facts = facts;
    h->n_facts = n;
}

void mc_history_hide(struct mc_history *h)
{
    h->hidden = 1;
}

static int entries_equal(const struct entry *a, const struct entry *b)
{
    return a->head.buf.size == b->head.buf.size && a->n_parents == b->n_parents &&
           !memcmp(a->head.buf.data, b->head.buf.data, a->head.buf.size) &&
           !memcmp(a->parents, b->parents, a->n_parents * sizeof *a->parents);
}

/* Add an entry of an input's history unless h has an equal one. places[i] is the index in h of the
 * input's entry i. Returns the entry's index, or -1 if out of memory. */
static long add_entry(struct mc_history *h, const msgpack_object *o, const size_t *places)
{
    static const char *const keys[] = {"tool", "version", "args"};
    const msgpack_object *parents = mc_get_opt(o, "parents");
    struct entry *e = NULL;
    long index = -1;

    if (mc_new(&e, 1, NULL))
        goto out;
    mc_pack_init(&e->head);
    for (size_t i = 0; i < 3; i++) {
        mc_pack_str(&e->head, keys[i]);
        mc_pack_object(&e->head, mc_get_opt(o, keys[i]));
    }
    e->n_parents = parents->via.array.size;
    if (mc_new(&e->parents, e->n_parents, NULL))
        goto out;
    for (size_t i = 0; i < e->n_parents; i++)
        e->parents[i] = places[parents->via.array.ptr[i].via.u64];
    if (e->head.failed)
        goto out;
    for (size_t i = 0; i < h->n_entries && index < 0; i++)
        if (entries_equal(h->entries[i], e))
            index = (long)i;
    if (index < 0 && !mc_list_room(&h->entries, h->n_entries, NULL)) {
        index = (long)h->n_entries;
        h->entries[h->n_entries++] = e;
        e = NULL;
    }
out:
    entry_free(e);
    if (index < 0)
        h->failed = 1;
    return index;
}

void mc_history_input(struct mc_history *h, struct mc_reader *r)
{
    const msgpack_object *list = mc_reader_history(r);
    struct mc_origin *origin = mc_reader_origin(r);
    size_t n = list->via.array.size, last = 0;
    size_t *places = NULL;

    h->failed |= mc_list_room(&h->inputs, h->n_inputs, NULL) |
                 mc_list_room(&h->parents, h->n_parents, NULL) | mc_new(&places, n, NULL);
    if (!h->failed) {
        origin->refs++;
        h->inputs[h->n_inputs++] = origin;
        if (n > h->most) {
            h->most = n;
            h->longest = origin;
        }
    }
    for (size_t i = 0; i < n && !h->failed; i++) {
        long index = add_entry(h, &list->via.array.ptr[i], places);
        if (index >= 0)
            last = places[i] = (size_t)index;
    }
    if (n && !h->failed)
        h->parents[h->n_parents++] = last;
    free(places);
}

static int is_scalar(const msgpack_object *o)
{
    return o->type == MSGPACK_OBJECT_STR || o->type == MSGPACK_OBJECT_POSITIVE_INTEGER ||
           o->type == MSGPACK_OBJECT_NEGATIVE_INTEGER || o->type == MSGPACK_OBJECT_BOOLEAN ||
           o->type == MSGPACK_OBJECT_FLOAT32 || o->type == MSGPACK_OBJECT_FLOAT64;
}

static int check_entry(const msgpack_object *e, size_t index, struct mc_error *err)
{
    const msgpack_object *args = NULL, *parents = NULL;
    char text[128];
    int rc = 0;

    if (e->type != MSGPACK_OBJECT_MAP || e->via.map.size != 4)
        return mc_fail(err, MC_EINPUT, "an entry is not a map of 4");
    if ((rc = mc_get_str(e, "tool", text, sizeof text, err)) ||
        (rc = mc_get_str(e, "version", text, sizeof text, err)) ||
        (rc = mc_get_array(e, "args", &args, err)) ||
        (rc = mc_get_array(e, "parents", &parents, err)))
        return rc;
    for (uint32_t i = 0; i < args->via.array.size; i++) {
        const msgpack_object *a = &args->via.array.ptr[i];
        if (a->type != MSGPACK_OBJECT_ARRAY || a->via.array.size != 2 ||
            a->via.array.ptr[0].type != MSGPACK_OBJECT_STR || !is_scalar(&a->via.array.ptr[1]))
            return mc_fail(err, MC_EINPUT, "\"args\" is not a list of [name, value]");
    }
    for (uint32_t i = 0; i < parents->via.array.size; i++) {
        const msgpack_object *p = &parents->via.array.ptr[i];
        if (p->type != MSGPACK_OBJECT_POSITIVE_INTEGER || p->via.u64 >= index)
            return mc_fail(err, MC_EINPUT, "\"parents\" is not a list of earlier entries");
    }
    return 0;
}

void mc_history_set_pair(struct mc_history *h, const char *a, const char *b)
{
    mc_history_str(h, "a", a);
    mc_history_str(h, "b", b);
}

/* The value of an argument of a checked entry, or NULL. */
static const msgpack_object *find_arg(const msgpack_object *entry, const char *name)
{
    const msgpack_object *args = mc_get_opt(entry, "args");

    for (uint32_t i = 0; i < args->via.array.size; i++) {
        const msgpack_object *pair = args->via.array.ptr[i].via.array.ptr;
        if (mc_is_str(&pair[0], name))
            return &pair[1];
    }
    return NULL;
}

/* Copy the argument if it is a content id: programs write it to streams. */
static int get_id(const msgpack_object *entry, const char *name, char id[MC_ID_LEN])
{
    const msgpack_object *o = find_arg(entry, name);

    if (!o || !mc_is_id(o))
        return 0;
    memcpy(id, o->via.str.ptr, MC_ID_LEN - 1);
    id[MC_ID_LEN - 1] = 0;
    return 1;
}

int mc_history_is_of(const msgpack_object *history, const char *tool)
{
    const size_t n = history->via.array.size;

    return n && mc_is_str(mc_get_opt(&history->via.array.ptr[n - 1], "tool"), tool);
}

int mc_history_pair(const msgpack_object *history, char pair[2][MC_ID_LEN])
{
    const msgpack_object *e = history->via.array.ptr, *parents, *tool;
    size_t number = history->via.array.size;

    while (number) {
        e = &history->via.array.ptr[number - 1];
        if (get_id(e, "a", pair[0]) && get_id(e, "b", pair[1]))
            return 1;
        parents = mc_get_opt(e, "parents");
        tool = mc_get_opt(e, "tool");
        if (!parents->via.array.size ||
            !(mc_is_str(tool, "mc-hungarian") || mc_is_str(tool, "mc-corr") ||
              mc_is_str(tool, "mc-procrustes") || mc_is_str(tool, "mc-bezier")))
            break;
        number = (size_t)parents->via.array.ptr[0].via.u64 + 1; /* an earlier entry */
    }
    pair[0][0] = pair[1][0] = 0;
    return 0;
}

/* The mc-acts run among the first parents of the stream's run, or NULL. */
static const msgpack_object *find_observation(const msgpack_object *history)
{
    size_t number = history->via.array.size;

    while (number) {
        const msgpack_object *e = &history->via.array.ptr[number - 1];
        const msgpack_object *parents = mc_get_opt(e, "parents");
        if (mc_is_str(mc_get_opt(e, "tool"), "mc-acts"))
            return e;
        number = parents->via.array.size ? (size_t)parents->via.array.ptr[0].via.u64 + 1 : 0;
    }
    return NULL;
}

static int same_value(const msgpack_object *x, const msgpack_object *y)
{
    return x && y ? msgpack_object_equal(*x, *y) : x == y;
}

int mc_history_same_data(const msgpack_object *x, const msgpack_object *y)
{
    static const char *const names[] = {"samples", "attack", "seed"};
    const msgpack_object *e[2] = {find_observation(x), find_observation(y)}, *data[2];

    if (!e[0] || !e[1])
        return 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!same_value(find_arg(e[0], names[i]), find_arg(e[1], names[i])))
            return 0;
    for (size_t i = 0; i < 2; i++) {
        const msgpack_object *parents = mc_get_opt(e[i], "parents");
        if (parents->via.array.size != 3) /* a, b and the data, if all have a history */
            return 1;
        data[i] = &(i ? y : x)->via.array.ptr[parents->via.array.ptr[2].via.u64];
    }
    return same_value(mc_get_opt(data[0], "tool"), mc_get_opt(data[1], "tool")) &&
           same_value(mc_get_opt(data[0], "args"), mc_get_opt(data[1], "args"));
}

int mc_history_augmented(const msgpack_object *history)
{
    static const char *const trainers[] = {"mc-train", "mc-bezier", "mc-pam"};

    for (uint32_t i = 0; i < history->via.array.size; i++) {
        const msgpack_object *e = &history->via.array.ptr[i], *epochs = find_arg(e, "epochs");
        for (size_t k = 0; k < sizeof trainers / sizeof *trainers; k++)
            if (mc_is_str(mc_get_opt(e, "tool"), trainers[k]) && epochs &&
                epochs->type == MSGPACK_OBJECT_POSITIVE_INTEGER && epochs->via.u64 &&
                !find_arg(e, "no-augment"))
                return 1;
    }
    return 0;
}

int mc_history_check(const msgpack_object *list, struct mc_error *err)
{
    int rc = 0;

    if (list->type != MSGPACK_OBJECT_ARRAY)
        return mc_fail(err, MC_EINPUT, "is not an array");
    for (uint32_t i = 0; i < list->via.array.size && !rc; i++)
        rc = check_entry(&list->via.array.ptr[i], i, err);
    return rc;
}

static void pack_parents(struct mc_pack *p, const size_t *parents, size_t n)
{
    mc_put_array(p, "parents", n);
    for (size_t i = 0; i < n; i++)
        mc_pack_u64(p, parents[i]);
}

int mc_history_pack(const struct mc_history *h, struct mc_pack *p, struct mc_error *err)
{
    if (!h || h->hidden) {
        mc_pack_array(p, 0);
    } else {
        mc_pack_array(p, h->n_entries + 1);
        for (size_t i = 0; i < h->n_entries; i++) {
            mc_pack_map(p, 4);
            mc_pack_raw(p, &h->entries[i]->head);
            pack_parents(p, h->entries[i]->parents, h->entries[i]->n_parents);
        }
        mc_pack_map(p, 4);
        mc_put_str(p, "tool", h->tool);
        mc_put_str(p, "version", MC_VERSION);
        mc_put_array(p, "args", h->n_args + h->n_facts);
        mc_pack_raw(p, &h->args);
        for (size_t i = 0; i < h->n_facts; i++) {
            mc_pack_array(p, 2);
            mc_put_str(p, h->facts[i].name, h->facts[i].value);
        }
        pack_parents(p, h->parents, h->n_parents);
    }
    if (p->failed || (h && h->failed))
        return mc_no_memory(err);
    return 0;
}

const char *mc_history_longest(const struct mc_history *h)
{
    return h && h->longest ? h->longest->name : NULL;
}

int mc_history_pack_inputs(const struct mc_history *h, struct mc_pack *p, struct mc_error *err)
{
    size_t n = h ? h->n_inputs : 0;

    mc_pack_array(p, n);
    for (size_t i = 0; i < n; i++) {
        if (!h->inputs[i]->id[0])
            return mc_fail(err, MC_EUSAGE, "input '%s' was not read to its end",
                           h->inputs[i]->name);
        mc_pack_str(p, h->inputs[i]->id);
    }
    return p->failed ? mc_no_memory(err) : 0;
}
