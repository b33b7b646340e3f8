/* error_json.c - writes failures and refusals.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/error_json.h"

#include "base/json_out.h"
#include "wire/reason_text.h"

/* Begins the object and leaves the map of the error open. */
static void error_begin(struct json_out *j, struct buf *out, const char *code, const char *message,
                        const char *path)
{
    json_out_init(j, out);
    json_out_put(j, "{error:{code:%s,message:%s,path:%s", code, message, path);
}

void error_json(const struct error *e, struct buf *out)
{
    struct json_out j;
    error_begin(&j, out, fail_code_name(e->code), e->text, e->path);
    json_out_put(&j, "}}");
}

void error_json_code(const char *code, const char *message, struct buf *out)
{
    struct json_out j;
    error_begin(&j, out, code, message, "");
    json_out_put(&j, "}}");
}

void error_json_refusal(const struct core *core, const struct facts *facts, bool of_many,
                        struct arena *arena, struct buf *out)
{
    const struct reason *reason = &facts->refusal;
    bool reused = reason->code == REASON_KEY_REUSED;
    const char *code =
        reused ? names_reason(reason->code) : fail_code_name(reason_text_err(reason->code));
    const char *path = reason_text_path(core, reason, arena);
    if (of_many && path[0] != '\0') {
        path = arena_fmt(arena, "[%u].%s", facts->refused_index, path);
    }
    struct buf message;
    struct json_out j;
    buf_init(&message, REASON_TEXT_MAX);
    reason_text(core, reason, &message);
    error_begin(&j, out, code, buf_text(&message), path);
    json_out_key(&j, "reason");
    reason_text_json(&j, core, reason);
    json_out_put(&j, "}}");
    buf_done(&message);
}
