/* task_times.c - times that a task may have of its own instead of its pool's.
 * SPDX-License-Identifier: Apache-2.0 */
#include "spec/task_internal.h"

void task_times_stale_grace_read(struct reader *in, const struct doc_place *place,
                                 const struct doc *doc, const struct field *field, void *object)
{
    (void)field;
    struct task_draft *draft = object;
    draft->spec.own_stale_grace = true;
    if (doc->kind == DOC_STRING && str_is(doc->text, "never")) {
        draft->spec.stale_grace_ms = STALE_GRACE_NEVER;
        return;
    }
    (void)fields_value_duration(in, place, doc, &draft->spec.stale_grace_ms);
}

void task_times_preemption_delay_read(struct reader *in, const struct doc_place *place,
                                      const struct doc *doc, const struct field *field,
                                      void *object)
{
    (void)field;
    struct task_draft *draft = object;
    draft->spec.own_preempt_delay = true;
    (void)fields_value_duration(in, place, doc, &draft->spec.preempt_delay_ms);
}
