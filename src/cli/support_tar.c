/* support_tar.c - see support_tar.h. SPDX-License-Identifier: Apache-2.0 */
#include "cli/support_tar.h"

#include "base/must.h"

#include <stdio.h>
#include <string.h>

enum { BLOCK = 512 };
#define OCTAL_MASK 077777777777ULL /* eleven digits */

/* The head of a file: texts padded with NUL, numbers in octal digits. */
struct tar_head {
    char name[100];
    char mode[8];
    char uid[8];
    char gid[8];
    char size[12];
    char mtime[12];
    char checksum[8];
    char type;
    char link[100];
    char magic[6];
    char version[2];
    char rest[BLOCK - 265];
};
_Static_assert(sizeof(struct tar_head) == BLOCK, "a head is one block");

static void checksum_set(struct tar_head *head)
{
    unsigned sum = 0;
    memset(head->checksum, ' ', sizeof head->checksum);
    for (size_t i = 0; i < BLOCK; i++) {
        sum += ((const unsigned char *)head)[i];
    }
    (void)snprintf(head->checksum, sizeof head->checksum, "%06o", sum & 0777777);
}

static void zeros_add(struct buf *out, size_t count)
{
    static const char zeros[BLOCK];
    must(count <= BLOCK);
    buf_add(out, zeros, count);
}

void support_tar_add(struct buf *out, const char *name, struct str text, int64_t time_ms)
{
    struct tar_head head = {.type = '0', .magic = "ustar", .version = {'0', '0'}};
    must(strlen(name) <= SUPPORT_TAR_NAME_MAX);
    (void)snprintf(head.name, sizeof head.name, "%s", name);
    (void)snprintf(head.mode, sizeof head.mode, "%07o", 0600U);
    (void)snprintf(head.uid, sizeof head.uid, "%07o", 0U);
    (void)snprintf(head.gid, sizeof head.gid, "%07o", 0U);
    (void)snprintf(head.size, sizeof head.size, "%011llo",
                   (unsigned long long)text.len & OCTAL_MASK);
    (void)snprintf(head.mtime, sizeof head.mtime, "%011llo",
                   (unsigned long long)time_ms / 1000 & OCTAL_MASK);
    checksum_set(&head);
    buf_add(out, (const char *)&head, sizeof head);
    buf_add(out, text.p, text.len);
    zeros_add(out, (BLOCK - text.len % BLOCK) % BLOCK);
}

void support_tar_end(struct buf *out)
{
    zeros_add(out, BLOCK);
    zeros_add(out, BLOCK);
}
