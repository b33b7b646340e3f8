/* use_list.c - see use_list.h. SPDX-License-Identifier: Apache-2.0 */
#include "agent/use_list.h"

#include "agent/limits.h"

#include <string.h>

void use_list_take(struct use_list *list, const struct agent_report *use)
{
    for (size_t i = 0; i < list->at.count; i++) {
        if (memcmp(&list->at.at[i].key, &use->key, sizeof use->key) == 0) {
            list->at.at[i] = *use;
            return;
        }
    }
    if (list->at.count < ATTEMPTS_MAX) {
        vec_push(&list->at, *use);
    }
}

uint32_t use_list_give(struct use_list *list, struct json_out *j, size_t max)
{
    const size_t count = list->at.count < max ? list->at.count : max;
    for (size_t i = 0; i < count; i++) {
        agent_report_batch_add(j, &list->at.at[i]);
    }
    vec_clear(&list->at);
    return (uint32_t)count;
}

void use_list_done(struct use_list *list)
{
    vec_done(&list->at);
}
