/* keyring.h - the keys of the last RECENT_KEYS_MAX attempts whose end the server has acknowledged.
 * An order still under way for such a key must not start the attempt again (P11).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"

#include <stdbool.h>

struct keyring;

struct keyring *keyring_new(void);
void keyring_free(struct keyring *ring);

void keyring_add(struct keyring *ring, const struct attempt_key *key);
bool keyring_has(const struct keyring *ring, const struct attempt_key *key);
