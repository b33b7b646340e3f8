/* account_internal.h - the fields of accounts, for the API's bodies and the server file.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "spec/account_spec.h"
#include "spec/fields.h"

/* Reads the map into `spec`. The caller has set the kind of `spec` and filled in the defaults or
 * the present definition. With `create` the name is required; without, a name may only repeat
 * the present one. */
void account_spec_fields(struct reader *in, const struct doc_place *place, const struct doc *doc,
                         bool create, struct account_spec *spec);
