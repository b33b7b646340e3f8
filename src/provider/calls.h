/* calls.h - the calls of a provider about single machines: one at a time for each key, and again, later and later, where
 * it is not clear what a call did.
 *
 *   launch ─▶ call ─┬─ clear ─────────────▶ report
 *                   └─ unclear ─▶ again … ─▶ report "failed", and terminate: a machine may be there
 *   terminate ─▶ call ─┬─ gone ──────────▶ report
 *                      └─ not yet ─▶ again …
 *
 * A call that was made too often is forgotten. The server, which compares launches with lists, asks again.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/str.h"
#include "io/loop.h"
#include "provider/programs.h"
#include "provider/provider.h"

enum {
    CALLS_LAUNCH_TRIES = 3,
    CALLS_TERMINATE_TRIES = 8,
    CALLS_AGAIN_MS = 1000, /* until the second try; then twice as long each time */
};

enum call_kind { CALL_LAUNCH, CALL_TERMINATE };

/* A call about one machine. Its owner fills in nothing. */
struct machine_call {
    struct calls *calls;
    char key[PROVIDER_KEY_MAX];
    enum call_kind kind;
    char *text; /* CALL_LAUNCH: what the provider noted of the order */
    size_t text_len;
    bool busy;     /* the provider makes the call now */
    bool end_next; /* the machine is to end when the launch has been answered */
    bool told; /* the failure of the launch is reported: nobody waits for the end of the machine */
    uint32_t tries;
    int64_t again_ms;
};

struct calls_options {
    struct loop *loop;
    struct provider_sink sink;
    /* Makes the call. calls_answered() or calls_unclear() follows, later. */
    void (*make)(void *ctx, struct machine_call *call);
    void *ctx;
};

struct calls *calls_new(const struct calls_options *options);
void calls_free(struct calls *calls); /* no call may be under way any more; NULL is allowed */

void *calls_ctx(const struct calls *calls); /* of the options */

/* The calls that are under way or that will be made again. */
size_t calls_count(const struct calls *calls);

/* The orders of struct provider_ops. A key about which a call is under way gets no second call. */
void calls_launch(struct calls *calls, const char *key, struct str text);
void calls_terminate(struct calls *calls, const char *key);

/* The call was made, and this is what the outside says of the machine. The call is gone afterwards. */
void calls_answered(struct machine_call *call, const struct provider_report *report);

/* Nobody knows what the call did, or the machine is not gone yet. `words` may be empty. */
void calls_unclear(struct machine_call *call, const char *words);

/* A program that made the call has ended. `read` reads the program's output, and answers the call or goes on with it. If
 * the program or `read` fails, it is not clear what the call did. The arena is freed afterwards. */
typedef enum err (*calls_read_fn)(struct machine_call *call, struct str out, struct arena *arena,
                                  struct error *e);
void calls_program_ended(struct machine_call *call, const struct programs_result *result,
                         calls_read_fn read);
