/* attempt_place.c - see attempt_place.h. SPDX-License-Identifier: Apache-2.0 */
#include "agent/attempt_place.h"

#include "agent/box_files.h"
#include "agent/disk_watch.h"
#include "agent/door.h"
#include "agent/supervisor_internal.h"
#include "agent/tasknet.h"

void attempt_place_give(struct attempt *attempt)
{
    struct supervisor *sup = attempt->sup;
    disk_watch_drop(sup->disk, &attempt->key);
    cpu_bind_give(sup->cpus, &attempt->cpus);
    if (!attempt->plain) {
        box_files_remove(sup->dir, &attempt->key);
    }
    jobdir_give(sup->jobdirs, attempt->key.task.v, attempt->instance);
    door_port_give(sup->door, attempt->port);
    attempt->port = 0;
    if (attempt->uid_number >= 0) {
        taskuid_give(sup->uids, attempt->uid_number);
        attempt->uid_number = -1;
    }
    tasknet_give(sup->networks, attempt->network);
    attempt->network = NULL;
}

/* The account that runs the attempt: one for all tasks, or the task's own. */
const struct runas_account *attempt_place_account(const struct attempt *attempt,
                                                  struct arena *arena, const char *job_dir)
{
    const struct supervisor *sup = attempt->sup;
    if (attempt->uid_number < 0) {
        return &sup->account;
    }
    struct runas_account *account = arena_new(arena, struct runas_account, 1);
    taskuid_account(sup->uids, attempt->uid_number, &sup->account, job_dir, account);
    return account;
}

/* Chooses a Unix user that no other task of the node has, and makes the user the owner of the
 * attempt's job directory. */
static must_use enum err user_take(struct attempt *attempt, uid_t *ret_uid, struct error *e)
{
    struct supervisor *sup = attempt->sup;
    struct runas_account account;
    attempt->uid_number = taskuid_take(sup->uids, attempt->key.task.v);
    if (attempt->uid_number < 0) {
        return fail(e, ERR_BUSY, "all users of the node's range have tasks");
    }
    taskuid_account(sup->uids, attempt->uid_number, &sup->account, "", &account);
    *ret_uid = account.uid;
    return jobdir_own(sup->jobdirs, attempt->key.task.v, attempt->instance, account.uid,
                      account.gid, e);
}

/* Takes the attempt's job directory, its network ("": the node's own) and, where each task has a user of its own, its
 * user. */
must_use enum err attempt_place_take(struct attempt *attempt, const struct start_order *order,
                                     struct error *e)
{
    struct supervisor *sup = attempt->sup;
    char dir[AGENT_PATH_MAX];
    uid_t uid = 0;
    enum err r = jobdir_take(sup->jobdirs, attempt->key.task.v, attempt->instance, e);
    attempt->port = r == ERR_OK ? door_port_take(sup->door) : 0;
    if (r != ERR_OK) {
        return r;
    }
    if (order->network[0] != '\0') {
        r = tasknet_take(sup->networks, order->network, order->outbound, &attempt->network, e);
    }
    r = r == ERR_OK && sup->uids != NULL ? user_take(attempt, &uid, e) : r;
    if (r != ERR_OK) {
        attempt_place_give(attempt);
        return r;
    }
    jobdir_path(sup->jobdirs, attempt->key.task.v, attempt->instance, dir);
    disk_watch_add(sup->disk, &attempt->key, dir, uid);
    return ERR_OK;
}
