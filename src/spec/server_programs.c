/* server_programs.c - see server_programs.h. SPDX-License-Identifier: Apache-2.0 */
#include "spec/server_programs.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum err server_programs_try(const char *command, struct error *e)
{
    struct stat status;
    if (stat(command, &status) != 0) {
        return fail(e, ERR_NOT_FOUND, "'%.100s' is not on this machine: %s", command,
                    strerror(errno));
    }
    if (!S_ISREG(status.st_mode) || access(command, X_OK) != 0) {
        return fail(e, ERR_DENIED, "'%.100s' cannot be run: `chmod +x` makes it a program",
                    command);
    }
    return ERR_OK;
}

void server_programs_look(struct str text, struct arena *arena, struct problems *ret_warnings)
{
    struct doc *root;
    uint32_t index = 0;
    *ret_warnings = (struct problems){0};
    if (doc_yaml_parse(arena, text, &root, NULL) != ERR_OK) {
        return;
    }
    const struct doc *pools = doc_get(root, "pools");
    for (const struct doc *pool = pools != NULL ? pools->first : NULL; pool != NULL;
         pool = pool->next, index++) {
        const struct doc *provider = doc_get(pool, "provider");
        const struct doc *program = provider != NULL ? doc_get(provider, "command") : NULL;
        struct error e;
        const char *command;
        if (program == NULL || !doc_text(program, &command) ||
            server_programs_try(command, &e) == ERR_OK) {
            continue;
        }
        ret_warnings->total++;
        if (ret_warnings->count < PROBLEMS_MAX) {
            ret_warnings->at[ret_warnings->count++] = (struct problem){
                .line = program->line,
                .column = program->column,
                .path = arena_fmt(arena, "pools[%u].provider.command", index),
                .text =
                    arena_fmt(arena, "warning: %s; until then the pool brings no node up", e.text)};
        }
    }
}
