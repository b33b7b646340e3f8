/* proxy_place.h - what an address of the proxy means: /proxy/12/, /proxy/12.3/, or /proxy/PROJECT/NAME/, which is
 * the service of this name and stays when the service is submitted again (ADR 0077).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/proxy_internal.h"

#define PROXY_ROOT "/proxy/"

/* Reads the address of the request: its place, prefix, task or name, and instance. False: it has another form. */
bool proxy_place_read(struct proxied *p);

/* Finds the service that a name means now: of the services with this name that have not ended the newest that has
 * an instance for requests, else the newest. False: there is no such service, and `p` keeps what it has. An address
 * with a number always means its task. */
bool proxy_place_find(struct proxied *p, const struct core *core);

/* The address of a service by its name, "/proxy/vision/chat/"; NULL: the task is no service, or has no name that can
 * be an address. */
const char *proxy_place_of(const struct core *core, const struct task *task, struct arena *arena);

/* The first instance of a service that takes requests, from instance `from` on and around; -1: there is none. */
int64_t proxy_place_instance(const struct core *core, const struct task *task, uint32_t from);
