/* box_upload.h - fetches a task's upload and unpacks it into the job directory.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/box.h"

/* A file that is there already stays as it is: a later attempt finds what an earlier one made of it. */
must_use enum err box_upload_take(const struct box *box, uint64_t task, struct error *e);
