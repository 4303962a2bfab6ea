/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a stream is what its kind promises, beyond its framing. */
#ifndef MC_CHECK_H
#define MC_CHECK_H

#include "formats/stream/reader.h"

/* Read an open reader, which stays the caller's, to its verified end, with the codec of its kind:
 * what the programs that take the kind refuse is refused alike (MC_EINPUT), such as values that are
 * not finite, a label that is no class, a data set without images. Of a kind that is not known here
 * the framing is checked alone. Memory: as the codec's, a block of a data
 * set or of activations, or all of another kind. */
MC_USE_RESULT int mc_stream_check(struct mc_reader *r, struct mc_error *err);

#endif
