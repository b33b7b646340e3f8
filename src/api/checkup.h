/* checkup.h - asks the instances of services whether they are healthy, and tells the core (ADR 0082).
 *
 * The server asks through the connection that also carries the proxy's requests, so a check sees what a client sees,
 * and no node needs an open port. What is no fault of the instance (its node is not connected, the server is busy)
 * is no result. SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct api;
struct checkup;

struct checkup *checkup_new(struct api *api);
void checkup_stop(struct checkup *checkup); /* ends every check; none begins any more */
void checkup_free(struct checkup *checkup);

/* Facts were committed: there may be services now. */
void checkup_wake(struct checkup *checkup);
