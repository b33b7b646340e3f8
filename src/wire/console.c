/* console.c - see console.h. SPDX-License-Identifier: Apache-2.0 */
#include "wire/console.h"

#include "base/must.h"

enum { SIZE_LEN = 4, SIZE_MAX_CELLS = 10000 };

void console_put(struct buf *out, enum console_type type, struct str data)
{
    must(data.len <= CONSOLE_FRAME_MAX);
    const uint32_t len = (uint32_t)data.len;
    const unsigned char head[CONSOLE_HEAD_LEN] = {(unsigned char)type, (unsigned char)(len >> 24),
                                                  (unsigned char)(len >> 16),
                                                  (unsigned char)(len >> 8), (unsigned char)len};
    buf_add(out, head, sizeof head);
    buf_add(out, data.p, data.len);
}

void console_put_size(struct buf *out, uint16_t rows, uint16_t columns)
{
    const char bytes[SIZE_LEN] = {(char)(rows >> 8), (char)rows, (char)(columns >> 8),
                                  (char)columns};
    console_put(out, CONSOLE_SIZE, (struct str){bytes, sizeof bytes});
}

long console_get(struct str in, struct console_frame *ret)
{
    const unsigned char *p = (const unsigned char *)in.p;
    if (in.len < CONSOLE_HEAD_LEN) {
        return 0;
    }
    const uint32_t len =
        (uint32_t)p[1] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 8 | (uint32_t)p[4];
    if (len > CONSOLE_FRAME_MAX) {
        return -1;
    }
    if (in.len - CONSOLE_HEAD_LEN < len) {
        return 0;
    }
    *ret = (struct console_frame){.type = (enum console_type)p[0],
                                  .data = {in.p + CONSOLE_HEAD_LEN, len}};
    return (long)(CONSOLE_HEAD_LEN + len);
}

bool console_size(struct str data, uint16_t *ret_rows, uint16_t *ret_columns)
{
    const unsigned char *p = (const unsigned char *)data.p;
    if (data.len != SIZE_LEN) {
        return false;
    }
    *ret_rows = (uint16_t)(p[0] << 8 | p[1]);
    *ret_columns = (uint16_t)(p[2] << 8 | p[3]);
    return true;
}

bool console_size_parse(const char *text, uint16_t *ret_rows, uint16_t *ret_columns)
{
    struct str columns = {NULL, 0};
    const struct str rows = str_cut(str_of(text), 'x', &columns);
    uint64_t r;
    uint64_t c;
    if (columns.p == NULL || !str_to_u64(rows, &r) || !str_to_u64(columns, &c) || r == 0 ||
        c == 0 || r > SIZE_MAX_CELLS || c > SIZE_MAX_CELLS) {
        return false;
    }
    *ret_rows = (uint16_t)r;
    *ret_columns = (uint16_t)c;
    return true;
}
