/* SPDX-License-Identifier: Apache-2.0
 *
 * A text that is written to its own file in one piece, once it is complete:
 *
 *     struct mc_text t = {0};
 *     int rc = mc_text_open(&t, err);
 *     if (!rc)
 *         rc = print(t.f);
 *     return mc_text_close(&t, path, rc, err); */
#ifndef MC_CLI_TEXT_H
#define MC_CLI_TEXT_H

#include "libcommon/base/text.h"

/* Writes a text in one piece: to stdout if path is NULL or "-", else to a file like mc_output. */
MC_USE_RESULT int mc_cli_write(const char *path, const char *text, size_t bytes,
                               struct mc_error *err);

/* Writes the text to a file, or to stdout if path is NULL or "-". Writes nothing if rc, the
 * caller's result so far, is an error. Frees the text even if it was never opened; returns rc or
 * the new error. */
MC_USE_RESULT int mc_text_close(struct mc_text *t, const char *path, int rc, struct mc_error *err);

#endif
