/* local.h - the provider `local`: each node is an agent process on the server's own machine.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "provider/provider.h"

/* The nodes live in directories of their own below `dir`, which is made when it is missing. Agents end with this process;
 * their tasks go on, and launch() of the same key starts the agent again. */
must_use enum err local_provider_new(const char *dir, struct provider_sink sink,
                                     struct provider **ret, struct error *e);
