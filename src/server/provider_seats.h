/* provider_seats.h - the providers that pools use, each with its list of machines.
 *
 * Pools of the type `local` share one provider, and so do pools of the types `slurm` and `ec2`. Each pool of the type `exec` has its
 * own, because each has a program of its own.
 *
 *   every few seconds: list() ─▶ compared with the launches:
 *     a machine that no launch knows is ended; a launch whose machine is missing again and again has ended
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core.h"
#include "core/model/pool.h"
#include "io/loop.h"
#include "provider/provider.h"
#include "server/ledger.h"

struct provider_seats;

struct provider_seats_options {
    struct loop *loop;
    struct ledger *ledger;
    const char *dir;             /* the data directory */
    const char *ec2_credentials; /* a file; "": the environment has them */
    void *ctx;
    /* A provider says something of a launch of this server. */
    void (*said)(void *ctx, const struct provider_answer *answer);
    /* Of a machine only the tasks run: it needs its agent. */
    void (*launch)(void *ctx, const struct core *core, const struct launch *launch);
};

struct provider_seats *provider_seats_new(const struct provider_seats_options *options);
void provider_seats_free(struct provider_seats *seats); /* NULL is allowed */

/* The provider of the pool; NULL: the pool has none, or it could not be made. */
struct provider *provider_seats_of(struct provider_seats *seats, const struct core *core,
                                   const struct pool *pool);

/* Call before the first order: keys in the environment are taken out of it, so that no child has them. */
void provider_seats_open(struct provider_seats *seats);

/* From now on lists are asked for. */
void provider_seats_start(struct provider_seats *seats);

/* An order was given to the provider of this pool: its list is soon of interest. */
void provider_seats_ordered(struct provider_seats *seats, const struct core *core,
                            const struct pool *pool);
