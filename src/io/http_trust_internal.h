/* http_trust_internal.h - the part of http_trust.c that knows libcurl. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "io/http_trust.h"

#include <curl/curl.h>

/* Replaces the owned texts of `to` by copies. */
void http_trust_copy(struct http_trust *to, const struct http_trust *from);

/* Makes libcurl ready. Call before any other function of libcurl. */
void http_trust_begin(void);

/* Sets what all transfers have in common: the environment is not asked, no redirect is followed, TLS is
 * 1.2 or later, and the certificates. */
void http_trust_set(const struct http_trust *trust, CURL *easy);

/* Makes sure that trust->ca has the authority of trust->fingerprint, and then forgets the fingerprint. */
must_use enum err http_trust_ready(const char *url, struct http_trust *trust, struct error *e);
