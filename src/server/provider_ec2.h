/* provider_ec2.h - the provider ec2, which asks the state about pools and launches.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "io/loop.h"
#include "provider/provider.h"
#include "server/ledger.h"

/* `credentials` is the path of a file with keys; "": the environment has them. The ledger lives as long as the provider. */
struct provider *provider_ec2_new(struct loop *loop, struct ledger *ledger, const char *credentials,
                                  struct provider_sink sink);
