/* det_machines.c - see det_machines.h. SPDX-License-Identifier: Apache-2.0 */
#include "compat/determined/det_machines.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static bool among(const char *text, size_t len, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (strlen(*words) == len && strncmp(*words, text, len) == 0) {
            return true;
        }
    }
    return false;
}

int det_machines_aws_slots(const char *type)
{
    static const struct {
        const char *type;
        int slots;
    } gpus[] = {
        {"g4dn.xlarge", 1},   {"g4dn.2xlarge", 1},  {"g4dn.4xlarge", 1}, {"g4dn.8xlarge", 1},
        {"g4dn.16xlarge", 1}, {"g4dn.12xlarge", 4}, {"g4dn.metal", 8},   {"g5.xlarge", 1},
        {"g5.2xlarge", 1},    {"g5.4xlarge", 1},    {"g5.8xlarge", 1},   {"g5.16xlarge", 1},
        {"g5.12xlarge", 4},   {"g5.24xlarge", 4},   {"g5.48xlarge", 8},  {"p2.xlarge", 1},
        {"p2.8xlarge", 8},    {"p2.16xlarge", 16},  {"p3.2xlarge", 1},   {"p3.8xlarge", 4},
        {"p3.16xlarge", 8},   {"p3dn.24xlarge", 8}, {"p4d.24xlarge", 8},
    };
    static const char *const families[] = {"t2", "t3",  "c4",   "c5",  "c5d",  "c5n", "m4",
                                           "m5", "m5d", "m5dn", "m5n", "m5zn", "m6i", NULL};
    static const char *const sizes[] = {"nano",     "micro",    "small",    "medium",   "large",
                                        "xlarge",   "2xlarge",  "3xlarge",  "4xlarge",  "6xlarge",
                                        "8xlarge",  "9xlarge",  "10xlarge", "12xlarge", "16xlarge",
                                        "18xlarge", "24xlarge", "32xlarge", NULL};
    for (size_t i = 0; i < sizeof gpus / sizeof gpus[0]; i++) {
        if (strcmp(type, gpus[i].type) == 0) {
            return gpus[i].slots;
        }
    }
    const char *point = strchr(type, '.');
    return point != NULL && among(type, (size_t)(point - type), families) &&
                   among(point + 1, strlen(point + 1), sizes)
               ? 0
               : -1;
}

bool det_machines_gcp_type_known(const char *type)
{
    static const char *const starts[] = {"n1-standard", "n1-highmem",  "n1-highcpu",  "n1-ultramem",
                                         "m2-ultramem", "n1-megamem",  "c2-standard", "a2-highgpu",
                                         "a2-megagpu",  "a2-ultragpu", "g2-standard", "n2-standard",
                                         "custom"};
    unsigned dashes = 0;
    for (const char *at = type; *at != '\0'; at++) {
        dashes += *at == '-' ? 1 : 0;
    }
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        if (dashes == 2 && strncmp(type, starts[i], strlen(starts[i])) == 0) {
            return true;
        }
    }
    return false;
}

const char *det_machines_gcp_gpus(const char *gpu)
{
    static const struct {
        const char *gpu;
        const char *counts;
    } known[] = {
        {"", "0"},
        {"nvidia-tesla-t4", "0 1 2 4"},
        {"nvidia-tesla-p100", "0 1 2 4"},
        {"nvidia-tesla-p4", "0 1 2 4"},
        {"nvidia-tesla-v100", "0 1 2 4 8"},
        {"nvidia-tesla-a100", "0 1 2 4 8 16"},
        {"nvidia-a100-80gb", "0 1 2 4 8"},
        {"nvidia-l4", "0 1 2 4 8"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(gpu, known[i].gpu) == 0) {
            return known[i].counts;
        }
    }
    return NULL;
}

bool det_machines_gcp_gpus_allow(const char *counts, int64_t count)
{
    char *end = NULL;
    for (const char *at = counts; *at != '\0'; at = *end == ' ' ? end + 1 : end) {
        if (strtoll(at, &end, 10) == count) {
            return true;
        }
    }
    return false;
}
