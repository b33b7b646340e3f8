/* ec2.h - the provider `ec2`: each node is a machine of Amazon EC2, or of a cloud with the same API.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "core/model/spec.h"
#include "io/loop.h"
#include "provider/provider.h"

/* What the provider must know of the server's pools. */
struct ec2_host {
    void *ctx;
    /* The settings of the pool whose launch has this key, in the arena. False: there is no such launch. */
    bool (*settings)(void *ctx, const char *key, struct arena *arena, struct pool_spec *ret);
    /* Calls `each` with every pool that has this provider. */
    void (*pools)(void *ctx, void (*each)(void *each_ctx, const struct pool_spec *pool),
                  void *each_ctx);
};

/* `uuid` is the server's. `credentials` is the path of a file; "": the environment has them. All are copied. Lives on
 * the loop, and blocks at no call. */
struct provider *ec2_provider_new(struct loop *loop, const uint8_t *uuid, const char *credentials,
                                  struct ec2_host host, struct provider_sink sink);
