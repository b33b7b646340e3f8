/* pool_provider.h - which settings the providers of pools take, and which settings they need.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/spec.h"
#include "spec/fields.h"

/* Is the type in the map `provider` one that exists? Else notes a problem that lists the types. */
bool pool_provider_type_known(const struct doc_value *provider);

/* Notes settings that the type of the provider does not take, and settings that it needs and lacks. */
void pool_provider_check(const struct doc_value *provider, struct pool_spec *spec);
