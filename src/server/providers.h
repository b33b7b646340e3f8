/* providers.h - gives the orders of the core to the providers of the pools, and tells the core what the providers say.
 *
 *   commit of a launch ─▶ providers_committed() ─▶ join token on disk ─▶ launch()
 *   report ─▶ noted ─▶ end of the turn: INPUT_PROVIDER
 *   every few seconds: list(). A launch that no provider knows has gone; a machine that no launch knows is ended.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/token.h"
#include "server/ledger.h"

struct providers;

struct providers_options {
    struct loop *loop;
    struct ledger *ledger;
    const struct tokens *tokens;
    const char *dir;             /* the data directory */
    const char *ec2_credentials; /* a file or an address; "": the environment has them */
};

struct providers *providers_new(const struct providers_options *options);
void providers_free(struct providers *providers); /* NULL is fine; the machines stay */

/* The server is reachable at `url`: gives all open orders, also of machines that are up already. `fingerprint` is that of
 * its authority; "": the server speaks no TLS. */
void providers_start(struct providers *providers, const char *url, const char *fingerprint);

/* The authority of the server is another one now. */
void providers_trust(struct providers *providers, const char *fingerprint);

/* The state was rebuilt after a failed commit: gives all open orders again. */
void providers_healed(struct providers *providers);

/* The batch is on disk: gives its orders to providers. */
void providers_committed(struct providers *providers, const struct batch *batch);

/* Tells the core what the providers have said. Call at the end of a loop turn, before the batch is handed over. */
void providers_turn_end(struct providers *providers);
