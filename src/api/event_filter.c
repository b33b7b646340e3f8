/* event_filter.c - see event_filter.h. SPDX-License-Identifier: Apache-2.0 */
#include "api/event_filter.h"

#include "base/suggest.h"
#include "core/core.h"

#include <string.h>

bool event_filter_set(const struct event_filter *filter)
{
    return filter->task.v != 0 || filter->pool[0] != '\0' || filter->type[0] != '\0';
}

bool event_filter_takes(const struct event_filter *filter, const struct core *core, uint32_t type,
                        const struct event_json_subject *about)
{
    if (filter->task.v != 0 && about->task.v != filter->task.v) {
        return false;
    }
    if (filter->pool[0] != '\0' && strcmp(filter->pool, query_pool_name(core, about->pool)) != 0) {
        return false;
    }
    return filter->type[0] == '\0' ||
           strcmp(filter->type, fact_type_name((enum fact_type)type)) == 0;
}

bool event_filter_type_known(const char *name)
{
    for (unsigned type = 1; type <= FACT_TYPE_MAX; type++) {
        if (fact_type_known(type) && strcmp(fact_type_name((enum fact_type)type), name) == 0) {
            return true;
        }
    }
    return false;
}

const char *event_filter_type_meant(const char *name)
{
    struct suggest suggest;
    suggest_init(&suggest, str_of(name));
    for (unsigned type = 1; type <= FACT_TYPE_MAX; type++) {
        if (fact_type_known(type)) {
            suggest_offer(&suggest, fact_type_name((enum fact_type)type));
        }
    }
    return suggest.best;
}
