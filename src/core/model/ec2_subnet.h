/* ec2_subnet.h - the subnets that an EC2 pool names: `subnet-1`, or `eu-west-1a=subnet-1` where the pool's flavor has zones.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/spec.h"

/* The id in an entry of `ec2_subnets`: what stands behind its zone, where the entry names one. */
const char *ec2_subnet_id(const char *entry);

/* The id of the subnet that the pool names for a zone. NULL: the pool names none for the zone. */
const char *ec2_subnet_in(const struct pool_spec *pool, const char *zone);
