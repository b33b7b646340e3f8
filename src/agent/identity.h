/* identity.h - what a node says of itself: name, labels, capacity. Found out once, at the start.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/agent_options.h"
#include "base/arena.h"
#include "base/fail.h"
#include "core/model/spec.h"

/* Texts and lists in the arena; the supervisor's id and the address are left empty. */
must_use enum err identity_read(const struct agent_options *options, struct arena *arena,
                                struct node_spec *ret, struct error *e);

/* "foo=7 bar=0.5 memory=8Gi", blanks or commas between; slots, cpu and memory replace what `ret`
 * has. ERR_INVALID says what is wrong with which. */
must_use enum err identity_resources(const char *text, struct arena *arena, struct node_spec *ret,
                                     struct error *e);

/* The address by which the server (a URL) reaches back to us, in `out`; 127.0.0.1 when unknown. */
void identity_address(const char *url, char *out, size_t size);
