/* quota_internal.h - the fields of quotas, for the API's bodies and the server file.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "spec/fields.h"
#include "spec/quota_spec.h"

/* Reads the map into `body`, which holds the defaults or the present definition. The map must
 * name the account and the pool. */
void quota_spec_fields(struct reader *in, const struct doc_place *place, const struct doc *doc,
                       struct quota_body *body);
