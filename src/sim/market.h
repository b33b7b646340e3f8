/* market.h - how the providers of a scenario behave: which launches they refuse, and when they take nodes back.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct doc_value;

/* When a rule holds, and for which nodes. Times are those of the scenario. */
struct market_rule {
    const char *flavor; /* NULL: nodes of every flavor, and nodes without a flavor */
    const char *zone;   /* NULL: in every zone */
    int64_t from_ms;
    int64_t until_ms; /* not included; 0: for ever */
    int64_t every_ms; /* the window comes again after this time; 0: never */
    int64_t mean_ms;  /* nodes are taken back after a random time with this mean; 0: at `from` */
};

struct market {
    uint32_t fail_percent; /* of launches that fail for no special reason */
    VEC(struct market_rule) sold_out;
    VEC(struct market_rule) taken_back; /* of flavors that are spot */
};

void market_done(struct market *market);

/* Reads `market: {fail_percent, sold_out: […], taken_back: […]}`. */
void market_read(const struct doc_value *v, struct market *market);

/* Does the provider have no such node at this moment? */
bool market_sold_out(const struct market *market, const char *flavor, const char *zone,
                     int64_t at_ms);

/* When a spot node that was asked for at this moment is taken back; INT64_MAX: never. `seed` and `launch` say which
 * random time it is. */
int64_t market_taken_ms(const struct market *market, const char *flavor, const char *zone,
                        int64_t at_ms, uint64_t seed, uint64_t launch);

/* Does this launch fail for no special reason? */
bool market_fails(const struct market *market, uint64_t seed, uint64_t launch);
