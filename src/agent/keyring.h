/* keyring.h - the keys of attempts that are over and acknowledged, the last RECENT_KEYS_MAX of
 * them: an order still under way for one of these must not start it again (P11).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"

#include <stdbool.h>

struct keyring;

struct keyring *keyring_new(void);
void keyring_free(struct keyring *ring);

void keyring_add(struct keyring *ring, const struct attempt_key *key);
bool keyring_has(const struct keyring *ring, const struct attempt_key *key);
