/* day_share.h - how far projects were below their fair share, averaged over a day.
 *
 * The share and the slots of a project are read once an hour of virtual time. The figure is the
 * largest mean of (share - slots) over any 24 hours in a row. Hours above the share make up for
 * hours below, because projects take turns.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/vec.h"

#include <stdint.h>

enum { DAY_HOURS = 24 };

struct day_account {
    int64_t lacking_milli[DAY_HOURS]; /* the last hours, by hour modulo DAY_HOURS */
    int64_t sum_milli;
    int64_t most_milli; /* largest mean of 24 hours in a row; 0: never below the share */
};

struct day_shares {
    int64_t hour; /* the next hour to read */
    VEC(struct day_account) accounts;
};

void day_share_done(struct day_shares *days);

/* How many hours begin before `before_ms` and are not yet noted. */
int64_t day_share_due(const struct day_shares *days, int64_t before_ms);

/* Notes for an account that it lacks so much in each of the next `hours` hours. */
void day_share_note(struct day_shares *days, uint32_t account, int64_t lacking_milli,
                    int64_t hours);

/* Goes on after all accounts were noted for `hours` hours. */
void day_share_passed(struct day_shares *days, int64_t hours);

/* The largest shortfall of an account over a day, in thousandths of slots. */
int64_t day_share_most(const struct day_shares *days, uint32_t account);
