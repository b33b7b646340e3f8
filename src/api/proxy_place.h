/* proxy_place.h - what an address of the proxy means: a task (/proxy/12/), an instance
 * (/proxy/12.3/), or the service of a name (/proxy/PROJECT/NAME/). The address of a name stays the
 * same when the service is submitted again (ADR 0077). SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/proxy_internal.h"

#define PROXY_ROOT "/proxy/"

/* Reads the address of the request into `p`: its place, prefix, task or name, and instance. False:
 * the address has no such form. */
bool proxy_place_read(struct proxied *p);

/* Sets `p->task` to the service that the name means now: the newest living service of this name
 * with an instance that takes requests, else the newest living one. False: the name has no living
 * service, and `p` is unchanged. An address with a number
 * means its task, and after an update of the task the service that took its place. */
bool proxy_place_find(struct proxied *p, const struct core *core);

/* Returns the address by name of a service, "/proxy/vision/chat/". NULL: the task is no service, or
 * its name cannot be an address. */
const char *proxy_place_of(const struct core *core, const struct task *task, struct arena *arena);

/* Returns the index of the next instance that takes requests, from instance `from` of the request on and around, and sets `p->task` to
 * the task of this instance. While a service is replaced, its address is for the instances of both tasks. -1: no instance takes requests. */
int64_t proxy_place_next(struct proxied *p, const struct core *core, const struct task *task);

/* Returns how many instances of the service have a place, those of the other task of an update included. */
uint32_t proxy_place_count(const struct proxied *p, const struct core *core,
                           const struct task *task);
