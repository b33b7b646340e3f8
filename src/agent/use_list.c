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

void use_list_done(struct use_list *list)
{
    vec_done(&list->at);
}
