/* devices.h - which devices of a node a request gets, and how often it goes into those that are free.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/node.h"
#include "core/model/resource.h"
#include "core/model/space.h"

#include <stdbool.h>
#include <stdint.h>

/* Does the node have the devices asked for, whether they are free or not? */
bool devices_exist(const struct node *node, const struct request *request);

/* Does this request hold devices on this node? */
bool devices_held(const struct node *node, const struct request *request);

/* How many such instances find devices together, at most `max`. */
uint32_t devices_count(const struct space *place, const struct request *request, uint32_t max);

/* The devices of the next instance: devices_count() must have said 1 or more. */
uint64_t devices_choose(const struct space *place, const struct request *request);

/* The most of each device that one instance could have, in thousandths; of whole devices all together. */
int64_t devices_available(const struct space *place, const struct request *request);
