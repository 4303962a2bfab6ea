/* SPDX-License-Identifier: Apache-2.0
 *
 * Writing of texts that are kept in memory until they are complete. */
#include "tools/cli/text.h"

#include "formats/stream/output.h"

#include <stdlib.h>

int mc_cli_write(const char *path, const char *text, size_t bytes, struct mc_error *err)
{
    struct mc_output *o = NULL;
    int rc = mc_output_open(&o, path, MC_OUTPUT_TEXT, err);

    if (!rc)
        rc = mc_output_write(o, text, bytes, err);
    return mc_output_close(o, rc, err);
}

int mc_text_close(struct mc_text *t, const char *path, int rc, struct mc_error *err)
{
    if (!(rc = mc_text_end(t, rc, err)))
        rc = mc_cli_write(path, t->text, t->bytes, err);
    free(t->text);
    *t = (struct mc_text){0};
    return rc;
}
