/* http_again.c - see http_again.h. SPDX-License-Identifier: Apache-2.0 */
#include "io/http_again.h"

#include <string.h>
#include <strings.h>
#include <sys/random.h>

enum { AFTER_S_MAX = 3600 };

bool http_again_after(struct str line, int64_t *ret_ms)
{
    static const char name[] = "retry-after:";
    if (line.len <= sizeof name || strncasecmp(line.p, name, sizeof name - 1) != 0) {
        return false;
    }
    struct str text = {line.p + sizeof name - 1, line.len - (sizeof name - 1)};
    while (text.len > 0 && strchr("\r\n", text.p[text.len - 1]) != NULL) {
        text.len--;
    }
    uint64_t seconds = 0;
    if (!str_to_u64(str_trim(text), &seconds)) {
        return false;
    }
    *ret_ms = (int64_t)(seconds > AFTER_S_MAX ? AFTER_S_MAX : seconds) * 1000;
    return true;
}

void http_again_etag(struct str line, char *ret)
{
    static const char name[] = "etag:";
    if (line.len <= sizeof name || strncasecmp(line.p, name, sizeof name - 1) != 0) {
        return;
    }
    struct str tag = str_trim((struct str){line.p + sizeof name - 1, line.len - sizeof name + 1});
    while (tag.len > 0 && strchr("\r\n", tag.p[tag.len - 1]) != NULL) {
        tag.len--;
    }
    if (tag.len < HTTP_ETAG_MAX) {
        memcpy(ret, tag.p, tag.len);
        ret[tag.len] = '\0';
    }
}

int64_t http_again_jitter(int64_t ms)
{
    uint32_t chance = 0;
    if (getrandom(&chance, sizeof chance, 0) != (ssize_t)sizeof chance) {
        chance = 0; /* the fixed half alone still works */
    }
    return ms / 2 + (int64_t)(chance % (uint32_t)(ms / 2 + 1));
}
