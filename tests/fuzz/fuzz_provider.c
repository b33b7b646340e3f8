/* fuzz_provider.c - what the programs of the providers exec and slurm print. The first byte says which reader gets the rest.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/must.h"
#include "provider/exec/exec_answer.h"
#include "provider/slurm/slurm_text.h"

#include <string.h>

static void machine_check(const struct exec_machine *machine)
{
    must((unsigned)machine->state < EXEC_STATE_COUNT);
    must(strlen(machine->name) <= 255);
    must(strlen(machine->words) <= 255);
}

static void exec_read(struct str text, bool list, struct arena *arena)
{
    struct exec_machine machine;
    struct exec_machines machines;
    struct error e = {0};
    if (!list) {
        if (exec_answer_machine(text, arena, &machine, &e) == ERR_OK) {
            machine_check(&machine);
        } else {
            must(e.text[0] != '\0');
        }
        return;
    }
    if (exec_answer_list(text, arena, &machines, &e) != ERR_OK) {
        must(e.text[0] != '\0');
        return;
    }
    must(machines.count <= EXEC_MACHINES_MAX);
    for (uint32_t i = 0; i < machines.count; i++) {
        machine_check(&machines.at[i]);
        must(machines.at[i].key[0] != '\0');
    }
}

static void slurm_read(struct str text, struct arena *arena)
{
    struct slurm_jobs jobs;
    struct error e = {0};
    if (slurm_text_jobs(text, arena, &jobs, &e) != ERR_OK) {
        must(e.text[0] != '\0');
        return;
    }
    for (uint32_t i = 0; i < jobs.count; i++) {
        must(strncmp(jobs.at[i].key, "weir-", 5) == 0);
        must(strlen(jobs.at[i].key) < PROVIDER_KEY_MAX);
        must(i == 0 || strcmp(jobs.at[i - 1].key, jobs.at[i].key) <= 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    if (size == 0) {
        return 0;
    }
    const struct str text = {(const char *)data + 1, size - 1};
    arena_init(&arena);
    if (data[0] == 's') {
        slurm_read(text, &arena);
    } else {
        exec_read(text, data[0] == 'l', &arena);
    }
    arena_done(&arena);
    return 0;
}
