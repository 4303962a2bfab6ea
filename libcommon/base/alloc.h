/* SPDX-License-Identifier: Apache-2.0
 *
 * Zeroed arrays, lists that grow item by item, and large work space. Free all with free(). */
#ifndef MC_ALLOC_H
#define MC_ALLOC_H

#include "libcommon/base/error.h"

#include <stddef.h>

/* Set *array to n zeroed items (array: the address of a pointer). *array is not NULL, even if n is
 * 0. Returns 0, or MC_ENOMEM with *array NULL. */
#define mc_new(array, n, err) mc_new_items((array), (n), sizeof **(array), (err))
/* Make room for one more item in *list, which has n; *list may move. The list grows only when n is
 * a power of two, so a list that never shrinks needs no stored capacity. Returns 0, or MC_ENOMEM
 * with the list unchanged. */
#define mc_list_room(list, n, err) mc_list_items((list), (n), sizeof **(list), (err))
/* Return uninitialised memory, aligned to 64 bytes and in huge pages if it fills one, or NULL. */
void *mc_alloc_large(size_t size);

/* Make room for `bytes` bytes in *buffer (buffer: the address of a pointer), which has *have. Old
 * contents are lost. Returns 0, or MC_ENOMEM with *buffer NULL and *have 0. */
MC_USE_RESULT int mc_buffer_room(void *buffer, size_t *have, size_t bytes, struct mc_error *err);

/* Implementations of the macros. `array` and `list` are addresses of pointers to any object type. */
MC_USE_RESULT int mc_new_items(void *array, size_t n, size_t size, struct mc_error *err);
MC_USE_RESULT int mc_list_items(void *list, size_t n, size_t size, struct mc_error *err);

#endif
