/* asset.h - the files of web/, built into the program: pages, and assets whose names carry a hash of
 * their bytes. They are the same for everybody and hold no data, so they need no token.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct asset {
    const char *path; /* "/", "/assets/weir-0123456789abcdef0123.css" */
    const char *content_type;
    const char *hash; /* of the bytes, hexadecimal */
    bool page;        /* its content may change under its name; an asset's does not */
    const unsigned char *plain;
    size_t plain_len;
    const unsigned char *packed; /* by gzip */
    size_t packed_len;
};

/* Made by tools/embed_web.py. */
extern const struct asset assets[];
extern const size_t assets_count;

/* The file served at exactly this path; NULL: none. */
const struct asset *asset_find(const char *path);

/* Does this Accept-Encoding header (NULL: none) take gzip? "gzip;q=0" does not, "*" does. */
bool asset_takes_gzip(const char *accept);

/* Does this If-None-Match header (NULL: none) name the tag, which has its quotes? "*" names all. */
bool asset_is_known(const char *if_none_match, const char *tag);
