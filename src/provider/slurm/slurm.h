/* slurm.h - the provider `slurm`: each node is an agent in a job of Slurm, a pilot job. sbatch, squeue and scancel are
 * run as the user of the server.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "provider/programs.h"
#include "provider/provider.h"

struct slurm_options {
    struct loop *loop;
    struct programs *programs; /* must outlive the provider */
    const uint8_t *server_uuid;
    struct provider_sink sink;
};

struct provider *slurm_provider_new(const struct slurm_options *options);
