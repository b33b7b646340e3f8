/* blob.h - immutable bytes shared by copies of the state: reference-counted, because copies live on
 * other threads.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/str.h"

#include <stddef.h>

struct blob;

struct blob *blob_new(const void *data, size_t len); /* one reference */
struct blob *blob_ref(struct blob *blob);            /* NULL stays NULL */
void blob_unref(struct blob *blob);
struct str blob_bytes(const struct blob *blob); /* empty for NULL */
