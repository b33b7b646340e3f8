/* doc_write.h - a document as JSON again.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/doc.h"
#include "base/json_out.h"

/* Writes the value, with all that is in it. Lists and maps nested deeper than the writer allows are written as
 * null. The value has no key: the caller writes that. */
void doc_write(struct json_out *j, const struct doc *doc);

/* How deep lists and maps are nested in the value; 0: it is a scalar. */
unsigned doc_write_depth(const struct doc *doc);
