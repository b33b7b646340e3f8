/* det_fields.h - the fields of Determined's master configuration (0.38.1), each map as a table for det_resolve.h.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "spec/fields.h"

extern const struct field det_fields_manager_agent[];
extern const struct field det_fields_manager_kubernetes[];
extern const struct field det_fields_pool[];
extern const struct field det_fields_scheduler[]; /* every type */
extern const struct field
    det_fields_scheduler_priority[];                 /* has defaults of priority and preemption */
extern const struct field det_fields_provider_any[]; /* a provider whose type is not known */
extern const struct field det_fields_provider_aws[];
extern const struct field det_fields_provider_gcp[];
extern const struct field det_fields_provider_hpc[];

/* Names of the whole file that say nothing about pools. */
extern const char *const det_fields_elsewhere[];
