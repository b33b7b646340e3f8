/* qarnot_uuid.c - UUIDs that follow from the server's uuid and a number, and resolve back without a table.
 *
 *   bytes 0-9     a hash of server, kind and number (with version 8 and the variant of RFC 9562 in their places)
 *   bytes 10-15   the number, under a mask that is a hash of server and kind
 * SPDX-License-Identifier: Apache-2.0 */
#include "compat/qarnot/qarnot_internal.h"

#include <ctype.h>
#include <sodium.h>

enum { HASH_BYTES = 16, TAG_BYTES = 10, NUMBER_BYTES = 6 };

#define NUMBER_MAX (((uint64_t)1 << 8 * NUMBER_BYTES) - 1)

static void hash_of(const struct core *core, enum qarnot_kind kind, uint64_t number, uint8_t *ret)
{
    uint8_t text[16 + 1 + sizeof number];
    memcpy(text, query_server_uuid(core), 16);
    text[16] = (uint8_t)kind;
    for (size_t i = 0; i < sizeof number; i++) {
        text[17 + i] = (uint8_t)(number >> 8 * i);
    }
    must(crypto_generichash(ret, HASH_BYTES, text, sizeof text, NULL, 0) == 0);
}

void qarnot_uuid(const struct core *core, enum qarnot_kind kind, uint64_t id, char *ret)
{
    uint8_t bytes[HASH_BYTES];
    uint8_t mask[HASH_BYTES];
    char hex[2 * HASH_BYTES + 1];
    must(id <= NUMBER_MAX);
    hash_of(core, kind, id, bytes);
    hash_of(core, kind, UINT64_MAX, mask);
    bytes[6] = (uint8_t)((bytes[6] & 0x0f) | 0x80);
    bytes[8] = (uint8_t)((bytes[8] & 0x3f) | 0x80);
    for (size_t i = 0; i < NUMBER_BYTES; i++) {
        bytes[TAG_BYTES + i] = (uint8_t)(mask[i] ^ (uint8_t)(id >> 8 * i));
    }
    str_hex(hex, bytes, HASH_BYTES);
    hex[2 * HASH_BYTES] = '\0';
    (void)snprintf(ret, QARNOT_UUID_MAX, "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12,
                   hex + 16, hex + 20);
}

bool qarnot_uuid_parse(const struct core *core, enum qarnot_kind kind, const char *text,
                       uint64_t *ret)
{
    uint8_t number[NUMBER_BYTES];
    uint8_t mask[HASH_BYTES];
    char again[QARNOT_UUID_MAX];
    char lower[2 * NUMBER_BYTES + 1] = "";
    uint64_t id = 0;
    if (strlen(text) != QARNOT_UUID_MAX - 1) {
        return false;
    }
    for (size_t i = 0; i < 2 * NUMBER_BYTES; i++) {
        lower[i] = (char)tolower((unsigned char)text[QARNOT_UUID_MAX - 1 - 2 * NUMBER_BYTES + i]);
    }
    if (!str_unhex(str_of(lower), number, NUMBER_BYTES)) {
        return false;
    }
    hash_of(core, kind, UINT64_MAX, mask);
    for (size_t i = 0; i < NUMBER_BYTES; i++) {
        id |= (uint64_t)(number[i] ^ mask[i]) << 8 * i;
    }
    qarnot_uuid(core, kind, id, again);
    *ret = id;
    return strcasecmp(again, text) == 0;
}
