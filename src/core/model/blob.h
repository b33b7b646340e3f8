/* blob.h - immutable bytes that copies of the state share. Blobs are reference-counted, because copies of the
 * state live on other threads.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/bytes.h"
#include "base/str.h"

#include <stddef.h>

struct blob;

struct blob *blob_new(const void *data, size_t len); /* one reference */
/* takes one more reference; NULL stays NULL */
struct blob *blob_ref(struct blob *blob);
void blob_unref(struct blob *blob);
struct str blob_bytes(const struct blob *blob); /* NULL gives no bytes */

/* Makes a reader of the bytes behind the name in an object's blob. The name stands first in the
 * blob and ends with a 0. */
void blob_reader(const struct blob *blob, struct bytes_reader *ret);
