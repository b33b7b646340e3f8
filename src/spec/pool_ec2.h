/* pool_ec2.h - the settings of the provider ec2: what they must be together.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/spec.h"
#include "spec/fields.h"

/* Notes every problem of the settings at `v`, the value of `provider`. */
void pool_ec2_check(const struct doc_value *v, const struct pool_spec *spec);
