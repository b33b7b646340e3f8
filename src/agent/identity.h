/* identity.h - what a node says of itself: name, labels, capacity. Read once, at the agent's start.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/agent_options.h"
#include "base/arena.h"
#include "base/fail.h"
#include "core/model/spec.h"

/* Texts and lists are in the arena. The supervisor's id and the address are left empty. `ret_serials` tells each device
 * from another; "": unknown. */
must_use enum err identity_read(const struct agent_options *options, struct arena *arena,
                                struct node_spec *ret, const char **ret_serials, struct error *e);

/* Reads "foo=7 bar=0.5 memory=8Gi", separated by blanks or commas. The names slots, cpu and memory
 * replace the values of `ret`. ERR_INVALID names the wrong entry. */
must_use enum err identity_resources(const char *text, struct arena *arena, struct node_spec *ret,
                                     struct error *e);

/* Writes the address by which the server (a URL) reaches this node to `out`; 127.0.0.1 when
 * unknown. */
void identity_address(const char *url, char *out, size_t size);
