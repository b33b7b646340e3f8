/* det_rules.h - what Determined refuses in a configuration of the right form. The messages begin with Determined's
 * own words, so that whoever knows them finds them.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "spec/fields.h"

/* Notes what Determined would refuse. `file` is the configuration as given and says the places, `resolved` what
 * det_config.h made of the file. */
void det_rules_check(const struct doc_value *file, const struct doc *resolved);

/* Notes what Determined would refuse in one provider, which is resolved and stands at `v`. */
void det_rules_provider(const struct doc_value *v, const struct doc *provider);
