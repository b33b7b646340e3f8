/* pool_provider.c - see pool_provider.h. A flag of sbatch must be one of a list: other flags run programs, write files,
 * or say what the server itself decides.
 * SPDX-License-Identifier: Apache-2.0 */
#include "spec/pool_provider.h"

#include "core/model/limits.h"
#include "core/model/names.h"
#include "core/model/pool_zones.h"
#include "spec/object_read.h"
#include "spec/pool_ec2.h"

#include <string.h>

enum { MINUTE_MS = 60 * 1000 };

/* The settings that one type of provider takes. */
static const struct {
    unsigned field;
    enum pool_provider type;
} owned[] = {
    {POOL_FIELD_command, POOL_EXEC},  {POOL_FIELD_partition, POOL_SLURM},
    {POOL_FIELD_account, POOL_SLURM}, {POOL_FIELD_qos, POOL_SLURM},
    {POOL_FIELD_flags, POOL_SLURM},   {POOL_FIELD_time_limit, POOL_SLURM},
};

static const char *const sbatch_flags[] = {
    "--constraint",
    "--contiguous",
    "--core-spec",
    "--cpus-per-gpu",
    "--exclude",
    "--exclusive",
    "--gpus",
    "--gpus-per-node",
    "--gres",
    "--gres-flags",
    "--hint",
    "--licenses",
    "--mem",
    "--mem-per-cpu",
    "--mem-per-gpu",
    "--mincpus",
    "--nice",
    "--nodelist",
    "--oversubscribe",
    "--prefer",
    "--priority",
    "--reservation",
    "--threads-per-core",
    "--tmp",
    "--wckey",
};

bool pool_provider_type_known(const struct doc_value *provider)
{
    const struct doc *type = doc_get(provider->doc, "type");
    const struct doc_value at = {.in = provider->in, .doc = type, .up = provider, .key = "type"};
    const char *word;
    if (provider->doc->kind != DOC_MAP || type == NULL ||
        !fields_value_text(&at, SIZE_MAX, &word)) {
        return true; /* the reader of the map says what is wrong */
    }
    for (unsigned i = 0; i < POOL_PROVIDER_COUNT; i++) {
        if (strcmp(word, names_pool_provider((enum pool_provider)i)) == 0) {
            return true;
        }
    }
    char words[OBJECT_READ_WORDS_MAX];
    fields_problem(&at, "'%.40s' does not exist yet; the types are %s", word,
                   object_read_words(&pool_object_fields[POOL_FIELD_type].record, words));
    return false;
}

static void owners_check(const struct doc_value *provider, const struct pool_spec *spec)
{
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) {
        const struct object_field *row = &pool_object_fields[owned[i].field];
        if (spec->provider != owned[i].type && !object_default(row, spec)) {
            fields_problem_in(provider, row->record.name,
                              "only a provider of the type %s takes it, and this one is %s",
                              names_pool_provider(owned[i].type),
                              names_pool_provider(spec->provider));
        }
    }
}

static void command_check(const struct doc_value *provider, const struct pool_spec *spec)
{
    if (spec->command[0] == '\0') {
        fields_problem_in(provider, "command",
                          "a provider of the type exec needs the path of its program, like "
                          "/usr/local/bin/weir-nodes");
    } else if (spec->command[0] != '/') {
        fields_problem_in(provider, "command",
                          "it must be a whole path that begins with /, not '%.40s'", spec->command);
    }
}

static bool sbatch_flag_known(const char *flag)
{
    const size_t len = strcspn(flag, "=");
    for (size_t i = 0; i < sizeof sbatch_flags / sizeof sbatch_flags[0]; i++) {
        if (strlen(sbatch_flags[i]) == len && strncmp(flag, sbatch_flags[i], len) == 0) {
            return true;
        }
    }
    return false;
}

static void slurm_check(const struct doc_value *provider, const struct pool_spec *spec)
{
    for (uint32_t i = 0; i < spec->flag_count; i++) {
        if (!sbatch_flag_known(spec->flags[i])) {
            fields_problem_in(provider, "flags",
                              "'%.40s' is not allowed; allowed are resources and places, like "
                              "--gres=gpu:1, --constraint=fast or --exclusive",
                              spec->flags[i]);
        }
    }
    if (spec->job_limit_ms % MINUTE_MS != 0) {
        fields_problem_in(provider, "time_limit", "Slurm counts in whole minutes, like 90m");
    }
}

/* `random` says what holds without zones. */
static void zones_check(const struct doc_value *provider, struct pool_spec *spec)
{
    char zone[NAME_LEN_MAX + 1];
    uint32_t count;
    if (spec->zone_count == 1 && strcmp(spec->zones[0], "random") == 0) {
        spec->zone_count = 0;
    }
    for (uint32_t i = 0; i < spec->zone_count; i++) {
        if (!pool_zones_read(spec->zones[i], zone, &count)) {
            fields_problem_in(provider, "zones",
                              "a zone and a number of nodes is wanted, like a=2, not '%.40s'",
                              spec->zones[i]);
            return;
        }
    }
    if (!pool_zones_sound(spec)) {
        fields_problem_in(provider, "zones",
                          "each zone once, and %u nodes in all, as 'nodes' says, are wanted",
                          spec->nodes_fixed);
    }
}

void pool_provider_check(const struct doc_value *provider, struct pool_spec *spec)
{
    if (spec->nodes_min > spec->nodes_max) {
        fields_problem_in(provider, "min", "it is %u and max is %u; a min up to the max would do",
                          spec->nodes_min, spec->nodes_max);
    }
    zones_check(provider, spec);
    owners_check(provider, spec);
    if (spec->provider == POOL_EXEC) {
        command_check(provider, spec);
    } else if (spec->provider == POOL_SLURM) {
        slurm_check(provider, spec);
    }
    pool_ec2_check(provider, spec);
}
