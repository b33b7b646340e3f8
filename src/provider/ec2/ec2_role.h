/* ec2_role.h - the credentials of the role that the server's own machine has in EC2, from its metadata service (IMDSv2).
 *
 *   PUT /latest/api/token ─▶ GET …/iam/security-credentials/ ─▶ GET …/iam/security-credentials/ROLE ─▶ keys, until they expire
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "io/http_multi.h"
#include "io/loop.h"
#include "io/sigv4.h"

struct ec2_role;

/* `address`: of the service, like http://169.254.169.254. Asks nothing before the first ec2_role_get(). */
struct ec2_role *ec2_role_new(struct loop *loop, struct http_multi *http, const char *address);
void ec2_role_free(
    struct ec2_role *role); /* NULL is allowed. The http_multi must have been freed before */

/* The keys, in the arena, and asks for the next ones five minutes before these expire. ERR_BUSY: the service is being asked; ask again in
 * a moment. Another error: the service has no keys; the next call asks it again. */
must_use enum err ec2_role_get(struct ec2_role *role, struct arena *arena, struct sigv4_keys *ret,
                               struct error *e);
