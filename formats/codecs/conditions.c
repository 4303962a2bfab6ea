/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/codecs/conditions.h"

#include "formats/codecs/tensors.h"

#include <string.h>

static const struct mc_key attack_keys[] = {
    MC_KEY(struct mc_conditions, attack, "attack", MC_KEY_TEXT, 0),
    MC_KEY(struct mc_conditions, seed, "seed", MC_KEY_COUNT, UINT64_MAX),
};

size_t mc_conditions_count(const struct mc_conditions *c)
{
    return (*c->attack ? 2u : 0u) + (c->precision != MC_PRECISION_F32);
}

void mc_conditions_pack(const struct mc_conditions *c, struct mc_pack *meta)
{
    if (*c->attack)
        mc_keys_pack(meta, attack_keys, 2, c);
    if (c->precision != MC_PRECISION_F32)
        mc_put_str(meta, "precision", mc_precision_names[c->precision]);
}

int mc_conditions_unpack(struct mc_conditions *c, const msgpack_object *meta, struct mc_error *err)
{
    char name[MC_NAME_MAX];
    int rc = 0;

    if (mc_get_opt(meta, "attack"))
        rc = mc_keys_unpack(meta, attack_keys, 2, c, err);
    if (!rc && !*c->attack && (mc_get_opt(meta, "attack") || mc_get_opt(meta, "seed")))
        rc = mc_fail(err, MC_EINPUT, "has a \"seed\" without an \"attack\"");
    if (rc || !mc_get_opt(meta, "precision"))
        return rc;
    rc = mc_get_str(meta, "precision", name, sizeof name, err);
    for (int i = 0; !rc && mc_precision_names[i]; i++)
        if (!strcmp(name, mc_precision_names[i]))
            c->precision = (enum mc_precision)i;
    if (!rc && c->precision == MC_PRECISION_F32)
        rc = mc_fail(err, MC_EINPUT, "\"precision\" must be tf32, bf16 or f16 (got \"%s\")", name);
    return rc;
}

int mc_conditions_same(const struct mc_conditions *a, const struct mc_conditions *b,
                       const char *subject, struct mc_error *err)
{
    if (a->precision != b->precision)
        return mc_fail(err, MC_EINPUT, "%s of different precisions (%s and %s)", subject,
                       mc_precision_names[a->precision], mc_precision_names[b->precision]);
    if (strcmp(a->attack, b->attack) != 0)
        return mc_fail(err, MC_EINPUT, "%s of different attacks (%s and %s)", subject,
                       *a->attack ? a->attack : "none", *b->attack ? b->attack : "none");
    if (a->seed != b->seed)
        return mc_fail(err, MC_EINPUT, "%s of attacks with different seeds (%llu and %llu)",
                       subject, (unsigned long long)a->seed, (unsigned long long)b->seed);
    return 0;
}
