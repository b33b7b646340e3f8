/* pool_zones.h - how many nodes of a pool stand in which zone: entries like `a=2`. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/spec.h"

#include <stdbool.h>

/* The zone and the number of an entry. `ret_zone` has NAME_LEN_MAX + 1 bytes. False: the entry has another form. */
bool pool_zones_read(const char *entry, char *ret_zone, uint32_t *ret_count);

/* Are all entries of the right form, is no zone named twice, and is the sum the fixed number of nodes? None: true. */
bool pool_zones_sound(const struct pool_spec *spec);

/* How many nodes the pool has in the zone; 0: none. */
uint32_t pool_zones_in(const struct pool_spec *spec, const char *zone);
