/* SPDX-License-Identifier: Apache-2.0
 *
 * Check that a stream is valid for its kind. */
#ifndef MC_NETWORK_CHECK_H
#define MC_NETWORK_CHECK_H

#include "formats/stream/reader.h"

/* Read an open reader, which remains the caller's, to its verified end with the codec of its kind.
 * Whatever programs refuse is MC_EINPUT here too, such as values that are not finite, labels out of
 * range, or a data set without images. For an unknown kind only the framing is checked. Memory: as
 * the codec's, which is one record of a data set, of activations, of weights or of a
 * curve, or all of another kind. */
MC_USE_RESULT int mc_stream_check(struct mc_reader *r, struct mc_error *err);

#endif
