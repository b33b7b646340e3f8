/* ec2_site.h - one region of one endpoint: signed calls, a few at once, repeated with a back-off while that may help.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "io/http_multi.h"
#include "provider/ec2/ec2_answer.h"
#include "provider/ec2/ec2_keys.h"

struct ec2_site;

enum {
    EC2_CALLS_MAX = 8,      /* of one site at once; further calls wait in line */
    EC2_TRIES_MAX = 7,      /* of one call: about half a minute */
    EC2_RETRY_MS_MIN = 500, /* before the second try; doubled each time */
    EC2_RETRY_MS_MAX = 8000,
    EC2_ROLE_MS = 100,        /* while the credentials of a role are asked for */
    EC2_CALL_MS_MAX = 30000,  /* of one try */
    EC2_REPLY_MAX = 16 << 20, /* bytes of an answer: a page of 1000 machines has about 5 MiB */
};

/* What became of a call. Everything is borrowed for the call of `done`. */
struct ec2_result {
    bool ok;
    struct ec2_machines machines; /* of a call that asks for machines */
    struct ec2_error error;       /* where not ok */
};

struct ec2_call {
    struct str form;
    bool machines; /* the answer has machines; else only its status counts */
    /* Called once, never inside ec2_site_call(). */
    void (*done)(void *ctx, const struct ec2_result *result);
    /* Called before each further try, with the words of the last one. */
    void (*again)(void *ctx, const char *words);
    /* Called in place of `done` where the site is freed. May be NULL. */
    void (*dropped)(void *ctx);
    void *ctx;
};

struct ec2_site *ec2_site_new(struct loop *loop, struct http_multi *http, struct ec2_keys *keys,
                              const char *region, const char *endpoint);

/* Drops the calls under way. Their http_multi must have been freed before. */
void ec2_site_free(struct ec2_site *site);

const char *ec2_site_region(const struct ec2_site *site);
const char *ec2_site_endpoint(const struct ec2_site *site);

void ec2_site_call(struct ec2_site *site, const struct ec2_call *call);
