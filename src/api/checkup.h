/* checkup.h - asks the instances of services whether they are healthy, and tells the core (ADR
 * 0082).
 *
 * A check uses the same tunnel through the node's agent as the proxy's requests. So a check finds
 * what a client would find, and no node needs an open port. A check has no result where the
 * instance is not to blame: its node is not connected, or the server is busy.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct api;
struct checkup;

struct checkup *checkup_new(struct api *api);
void checkup_stop(struct checkup *checkup); /* ends every running check and begins no more */
void checkup_free(struct checkup *checkup);

/* Starts the ticks if the state has a service. Call after each commit of facts, because facts bring
 * new services. */
void checkup_wake(struct checkup *checkup);
