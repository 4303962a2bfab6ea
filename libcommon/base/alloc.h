/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that is zeroed, and lists that grow one by one. Both are freed by free(). */
#ifndef MC_ALLOC_H
#define MC_ALLOC_H

#include "libcommon/base/error.h"

#include <stddef.h>

/* *at (at: the address of a pointer): n zeroed items of what it points to, never NULL for n = 0.
 * Returns 0, or MC_ENOMEM with *at NULL. */
#define mc_new(at, n, err) mc_new_items((at), (n), sizeof **(at), (err))
/* *list has n items: room for one more, wherever it moves to. It grows where n is a power of two,
 * so that of a list that never shrinks n alone says how much room there is. Returns 0, or MC_ENOMEM
 * with the list as it was. */
#define mc_list_room(list, n, err) mc_list_items((list), (n), sizeof **(list), (err))

/* The two above, whose `at` and `list` are the address of a pointer to any object type. */
MC_USE_RESULT int mc_new_items(void *at, size_t n, size_t size, struct mc_error *err);
MC_USE_RESULT int mc_list_items(void *list, size_t n, size_t size, struct mc_error *err);

#endif
