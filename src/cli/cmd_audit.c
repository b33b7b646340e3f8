/* cmd_audit.c - `weir audit`: shows what administrators did, and checks that no act is missing from
 * the record. SPDX-License-Identifier: Apache-2.0 */
#include "base/json_out.h"
#include "cli/cmd.h"
#include "cli/list.h"
#include "cli/text.h"
#include "store/audit.h"

#include <string.h>

static const struct list_column audit_columns[] = {
    {"n", "N", COLUMN_NUMBER, "n", COLUMN_ALWAYS, NULL},
    {"time", "TIME", COLUMN_TIME, "time", COLUMN_ALWAYS, NULL},
    {"actor", "ACTOR", COLUMN_TEXT, "actor", COLUMN_SPARE, NULL},
    {"peer", "FROM", COLUMN_TEXT, "peer", COLUMN_SPARE, NULL},
    {"method", "METHOD", COLUMN_TEXT, "method", COLUMN_ALWAYS, NULL},
    {"path", "PATH", COLUMN_TEXT, "path", COLUMN_ALWAYS, NULL},
    {"status", "STATUS", COLUMN_NUMBER, "status", COLUMN_ALWAYS, NULL},
    {"seq", "SEQ", COLUMN_NUMBER, "seq", COLUMN_WIDE, NULL},
    {"token", "TOKEN", COLUMN_TEXT, "token", COLUMN_WIDE, NULL},
    {"hash", "HASH", COLUMN_TEXT, "hash", COLUMN_WIDE, NULL},
    {0},
};

static const struct list_def audit_list = {
    .what = "acts",
    .id_path = "n",
    .columns = audit_columns,
    .empty = "what administrators change is recorded from now on",
};

int cmd_audit_list(struct cli *cli)
{
    return list_run(cli, &audit_list, "/audit");
}

static void finding_json(const struct audit_finding *found, const char *missing)
{
    struct buf out;
    struct json_out j;
    buf_init(&out, AUDIT_LINE_MAX);
    json_out_init(&j, &out);
    json_out_put(&j, "{sound:%i,lines:%lu,last:%s", found->why == NULL && missing == NULL,
                 found->lines, found->last);
    json_out_kv_text(&j, "why", found->why != NULL ? found->why : missing);
    json_out_end(&j);
    buf_add_char(&out, '\n');
    context_out_text(buf_text(&out));
    buf_done(&out);
}

int cmd_audit_verify(struct cli *cli)
{
    struct error e;
    struct audit_finding found;
    const char *dir = cmd_data_dir(cli);
    const char *known = args_text(&cli->args, "last");
    const enum err r = audit_verify(dir, known, &found, &e);
    if (r != ERR_OK) {
        return context_fail(cli, &e);
    }
    const char *missing =
        known != NULL && found.why == NULL && !found.known_found
            ? "no line has the hash of --last: lines were taken away, or made anew"
            : NULL;
    if (args_has(&cli->args, "json")) {
        finding_json(&found, missing);
    } else if (found.why != NULL) {
        context_say("weir: %s/audit.log: line %llu: %s", dir, (unsigned long long)found.lines + 1,
                    found.why);
    } else if (missing != NULL) {
        context_say("weir: %s/audit.log: %s", dir, missing);
    } else {
        context_say("%s/audit.log: %llu line%s, each follows the line before", dir,
                    (unsigned long long)found.lines, found.lines == 1 ? "" : "s");
        context_out_text(arena_fmt(&cli->arena, "%s\n", found.last));
    }
    return found.why == NULL && missing == NULL ? EXIT_OK : EXIT_FAILED;
}
