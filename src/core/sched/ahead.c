/* ahead.c - who tries to take before others start.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/ahead.h"

#include "core/core_internal.h"

enum { LINES_FIRST = 8 };

void ahead_init(struct ahead *ahead, struct action *action, struct arena *arena)
{
    *ahead = (struct ahead){.action = action, .notes = {.arena = arena}};
}

static void lines_grow(struct ahead *ahead)
{
    const struct turns_line *old = ahead->lines;
    ahead->room = ahead->room == 0 ? LINES_FIRST : ahead->room * 2;
    ahead->lines = arena_new(ahead->notes.arena, struct turns_line, ahead->room);
    for (uint32_t i = 0; i < ahead->count; i++) {
        ahead->lines[i] = old[i];
    }
}

void ahead_note(struct ahead *ahead, const struct turns_line *line)
{
    struct lane *lane = queue_lane(&line->queue);
    if (ahead->action == NULL || lane->noted) {
        return;
    }
    lane->noted = true;
    if (ahead->count == ahead->room) {
        lines_grow(ahead);
    }
    struct turns_line *noted = &ahead->lines[ahead->count++];
    struct lane *own = arena_new(ahead->notes.arena, struct lane, 1);
    *own = (struct lane){.key = lane->key,
                         .note = notes_get(&ahead->notes, lane->note->shape),
                         .alone = lane->alone};
    *noted = *line;
    noted->queue.at = own;
    noted->queue.count = 1;
    noted->queue.room = 1;
}

bool ahead_touched(const struct ahead *ahead, const struct task *task)
{
    return id_set_has(&ahead->touched, task->id.v);
}

bool ahead_run(struct ahead *ahead)
{
    if (ahead->count == 0) {
        return false;
    }
    const struct trial *trial = ahead->action->trial;
    const size_t mark = trial_mark(trial);
    action_run_lines(ahead->action, ahead->lines, ahead->count);
    ahead->count = 0;
    for (size_t i = mark; i < trial->count; i++) {
        id_set_add(&ahead->touched, trial->arena, trial->decisions[i].task->id.v);
    }
    return trial_mark(trial) > mark;
}
