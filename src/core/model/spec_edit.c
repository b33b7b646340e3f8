/* spec_edit.c - see spec_edit.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/spec_edit.h"

#include "core/model/spec_codec.h"

void spec_edit_task(struct task_spec *spec, const struct task_edit *edit)
{
    if (edit->fields & EDIT_PRIORITY) {
        spec->priority = edit->priority;
    }
    if (edit->fields & EDIT_RETRIES) {
        spec->max_retries = edit->max_retries;
    }
    if (edit->fields & EDIT_TIME_LIMIT) {
        spec->time_limit_ms = edit->time_limit_ms;
    }
    if (edit->fields & EDIT_GRACE) {
        spec->grace_ms = edit->grace_ms;
    }
    if (edit->fields & EDIT_NAME) {
        spec->name = edit->name;
    }
    if (edit->fields & EDIT_TAGS) {
        spec->tags = edit->tags;
        spec->tag_count = edit->tag_count;
    }
    if (edit->fields & EDIT_POOL) {
        spec->pools = &edit->pool;
        spec->pool_count = 1;
    }
    if (edit->fields & EDIT_PROJECT) {
        spec->project = edit->project;
    }
    if (edit->fields & EDIT_RESOURCES) {
        spec_codec_asks_copy(spec, edit->asks);
    }
    if (edit->fields & EDIT_AVOID) {
        spec->avoid = edit->avoid;
        spec->avoid_count = edit->avoid_count;
    }
    if (edit->fields & EDIT_LABELS) {
        spec->node_labels = edit->node_labels;
        spec->node_label_count = edit->node_label_count;
    }
    if (edit->fields & EDIT_TOPOLOGY) {
        spec->topology = edit->topology;
    }
}
