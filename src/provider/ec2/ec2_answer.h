/* ec2_answer.h - what EC2 answers: machines, and errors by what is to be done about them.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "provider/provider.h"

enum ec2_state {
    EC2_PENDING,
    EC2_RUNNING,
    EC2_ENDING,  /* shutting-down */
    EC2_STOPPED, /* stopping or stopped: somebody did that by hand */
    EC2_ENDED,   /* terminated; still listed for about an hour */
};

struct ec2_machine {
    const char *id;     /* "i-0abc…" */
    const char *key;    /* of the tag; "": none */
    const char *server; /* likewise */
    const char *pool;
    const char *launched; /* when, as text that sorts by time */
    enum ec2_state state;
    const char *why; /* "Server.SpotInstanceTermination: …"; "": nothing */
    enum provider_why why_kind;
};

struct ec2_machines {
    struct ec2_machine *at;
    uint32_t count;
    const char *next_token; /* of the next page; "": this is the last page */
};

/* What is to be done about an error. */
enum ec2_kind {
    EC2_REFUSED,   /* a mistake or a missing right: asking again does not help */
    EC2_CAPACITY,  /* none there: another place may have some */
    EC2_PRICE,     /* the price is too low */
    EC2_LIMIT,     /* the account's own limit */
    EC2_SLOW_DOWN, /* too many requests: the same again, later */
    EC2_PASSING,   /* the same again, soon */
    EC2_MADE,      /* the token has been used: the machine is there */
    EC2_UNKNOWN,   /* there is no such machine */
};

struct ec2_error {
    enum ec2_kind kind;
    const char *words; /* "Code: message" in EC2's own words */
};

/* What EC2 answers to the calls RunInstances and DescribeInstances: the machines, and how to ask for the next page. */
must_use enum err ec2_answer_machines(struct str body, struct arena *arena,
                                      struct ec2_machines *ret, struct error *e);

/* The answer with a status other than 200. An answer that cannot be read is EC2_PASSING from status 500 on,
 * otherwise EC2_REFUSED. */
void ec2_answer_error(unsigned status, struct str body, struct arena *arena, struct ec2_error *ret);

/* The kind of a code: "InsufficientInstanceCapacity". */
enum ec2_kind ec2_answer_kind(unsigned status, const char *code);

/* Why there is no machine, for the core. */
enum provider_why ec2_answer_why(enum ec2_kind kind);
