/* error_json.c - writes failures and refusals.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/error_json.h"

#include "base/json_out.h"
#include "wire/reason_help.h"
#include "wire/reason_text.h"

enum { MESSAGE_MAX = 1024 };

static void head(struct json_out *j, struct buf *out, const char *code, const char *message,
                 const char *path)
{
    json_out_init(j, out);
    json_out_object(j);
    json_out_key(j, "error");
    json_out_object(j);
    json_out_kv_text(j, "code", code);
    json_out_kv_text(j, "message", message);
    json_out_kv_text(j, "path", path);
}

void error_json(const struct error *e, struct buf *out)
{
    struct json_out j;
    head(&j, out, fail_code_name(e->code), e->text, e->path);
    json_out_end(&j);
    json_out_end(&j);
}

void error_json_code(const char *code, const char *message, struct buf *out)
{
    struct json_out j;
    head(&j, out, code, message, "");
    json_out_end(&j);
    json_out_end(&j);
}

void error_json_refusal(const struct core *core, const struct facts *facts, bool of_many,
                        struct arena *arena, struct buf *out)
{
    const struct reason *reason = &facts->refusal;
    bool reused = reason->code == REASON_KEY_REUSED;
    const char *code =
        reused ? names_reason(reason->code) : fail_code_name(reason_help_err(reason->code));
    const char *path = reason_help_path(core, reason, arena);
    if (of_many && path[0] != '\0') {
        path = arena_fmt(arena, "[%u].%s", facts->refused_index, path);
    }
    struct buf message;
    struct json_out j;
    buf_init(&message, MESSAGE_MAX);
    reason_text(core, reason, &message);
    head(&j, out, code, buf_text(&message), path);
    json_out_key(&j, "reason");
    reason_text_json(&j, core, reason);
    json_out_end(&j);
    json_out_end(&j);
    buf_done(&message);
}
