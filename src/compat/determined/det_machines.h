/* det_machines.h - the types of machines that Determined knows, and their slots.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* For messages. */
#define DET_MACHINES_GCP_TYPES                                                                     \
    "n1-standard, n1-highmem, n1-highcpu, n1-ultramem, m2-ultramem, n1-megamem, c2-standard, "     \
    "a2-highgpu, a2-megagpu, a2-ultragpu, g2-standard, n2-standard, custom"
#define DET_MACHINES_GCP_GPUS                                                                      \
    "nvidia-tesla-t4, nvidia-tesla-p100, nvidia-tesla-p4, nvidia-tesla-v100, nvidia-tesla-a100, "  \
    "nvidia-a100-80gb, nvidia-l4"

/* The slots of a type of EC2; -1: Determined does not know the type. */
int det_machines_aws_slots(const char *type);

/* True for a type of three parts that begins as one that Determined knows: n1-standard-8. */
bool det_machines_gcp_type_known(const char *type);

/* The numbers of GPUs of this type that a machine may have, between blanks; NULL: an unknown type of GPU. */
const char *det_machines_gcp_gpus(const char *gpu);
bool det_machines_gcp_gpus_allow(const char *counts, int64_t count);
