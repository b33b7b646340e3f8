/* day_share.c - see day_share.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/day_share.h"

#include "base/must.h"

enum { HOUR_MS = 60 * 60 * 1000 };

void day_share_done(struct day_shares *days)
{
    vec_done(&days->accounts);
}

int64_t day_share_due(const struct day_shares *days, int64_t before_ms)
{
    const int64_t hours = before_ms / HOUR_MS + (before_ms % HOUR_MS != 0);
    return hours > days->hour ? hours - days->hour : 0;
}

void day_share_note(struct day_shares *days, uint32_t account, int64_t lacking_milli, int64_t hours)
{
    must(hours >= 0);
    while (days->accounts.count <= account) {
        vec_push(&days->accounts, (struct day_account){0});
    }
    struct day_account *at = &days->accounts.at[account];
    /* After a day of equal hours the mean does not change any more. */
    for (int64_t i = 0; i < hours && i < DAY_HOURS; i++) {
        int64_t *slot = &at->lacking_milli[(days->hour + i) % DAY_HOURS];
        at->sum_milli += lacking_milli - *slot;
        *slot = lacking_milli;
        const int64_t mean_milli = at->sum_milli / DAY_HOURS;
        at->most_milli = mean_milli > at->most_milli ? mean_milli : at->most_milli;
    }
}

void day_share_passed(struct day_shares *days, int64_t hours)
{
    days->hour += hours;
}

int64_t day_share_most(const struct day_shares *days, uint32_t account)
{
    return account < days->accounts.count ? days->accounts.at[account].most_milli : 0;
}
