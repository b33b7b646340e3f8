/* upkeep.c - see upkeep.h. SPDX-License-Identifier: Apache-2.0 */
#include "agent/upkeep.h"

#include "agent/box_files.h"

#include "agent/attempt_record.h"
#include "agent/dirs.h"
#include "agent/door.h"
#include "agent/link.h"
#include "agent/supervisor_internal.h"
#include "agent/tasknet.h"
#include "base/log.h"
#include "base/str.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
    START_TROUBLE_MS = 20 * 1000,
    FREE_BYTES_MIN = 4 * 1024 * 1024, /* below it the next segment of the spool may not fit */
    FREE_FILES_MIN = 16,
};

static must_use enum err dir_hold(const struct supervisor *sup, struct error *e)
{
    struct stat info;
    if (stat(sup->dir, &info) == 0 && S_ISDIR(info.st_mode)) {
        return ERR_OK;
    }
    log_error("the node's directory is gone, making it anew", kv_str("directory", sup->dir));
    return dirs_make(sup->dir, e);
}

static void log_hold(const struct supervisor *sup)
{
    if (!dirs_still_there(sup->dir, SUPERVISOR_LOG, STDERR_FILENO)) {
        dirs_log_to_file(sup->dir);
        log_warn("the supervisor's log was gone and goes on in a new file");
    }
}

static must_use enum err spool_hold(struct supervisor *sup, struct error *e)
{
    if (spool_sound(sup->spool)) {
        return ERR_OK;
    }
    enum err r = spool_renew(sup->spool, e);
    if (r == ERR_OK) {
        log_error("a part of the spool is gone; what is not acknowledged is recorded again");
        attempt_record_again(sup);
    }
    return r;
}

/* Is there room to write reports and to make directories? */
static must_use enum err space_check(const struct supervisor *sup, struct error *e)
{
    struct statvfs info;
    if (statvfs(sup->dir, &info) != 0) {
        return fail_errno(e, ERR_IO, errno, "cannot look at '%s'", sup->dir);
    }
    if ((info.f_flag & ST_RDONLY) != 0) {
        return fail(e, ERR_IO, "'%s' is on a file system that cannot be written", sup->dir);
    }
    if ((uint64_t)info.f_bavail * info.f_frsize < FREE_BYTES_MIN) {
        return fail(e, ERR_IO, "the file system of '%s' is full", sup->dir);
    }
    if (info.f_files > 0 && info.f_favail < FREE_FILES_MIN) {
        return fail(e, ERR_IO, "the file system of '%s' has no room for more files", sup->dir);
    }
    return ERR_OK;
}

/* What the last starts and writes met. */
static must_use enum err recent_check(const struct supervisor *sup, struct error *e)
{
    if (sup->spool_stuck) {
        return fail(e, ERR_IO, "%s", sup->spool_error);
    }
    if (loop_now_ms(sup->loop) < sup->start_trouble_until_ms) {
        return fail(e, ERR_IO, "%s", sup->start_error);
    }
    return ERR_OK;
}

void upkeep_look(struct supervisor *sup)
{
    struct error e = {0};
    enum err r = dir_hold(sup, &e);
    log_hold(sup);
    cgroup_places_hold(sup->cgroups, sup->dir);
    r = r == ERR_OK ? dirs_lock_hold(sup->dir, SUPERVISOR_LOCK, &sup->lock_fd, &e) : r;
    r = r == ERR_OK ? spool_hold(sup, &e) : r;
    r = r == ERR_OK ? jobdir_hold(sup->jobdirs, &e) : r;
    r = r == ERR_OK ? link_hold(sup, &e) : r;
    r = r == ERR_OK ? door_hold(sup->door, &e) : r;
    r = r == ERR_OK ? space_check(sup, &e) : r;
    r = r == ERR_OK ? recent_check(sup, &e) : r;
    const char *why = r == ERR_OK ? "" : e.text;
    if (strcmp(why, sup->trouble) == 0) {
        return;
    }
    (void)str_copy(sup->trouble, sizeof sup->trouble, why);
    if (r == ERR_OK) {
        log_info("the node can work again");
    } else {
        log_error("the node cannot work", kv_error(&e));
    }
    link_trouble(sup);
}

/* Moves old job directories away, as the site says. The agent removes what lies in D/job/.gone. */
static void files_sweep(struct supervisor *sup)
{
    struct arena arena;
    struct box_site site;
    arena_init(&arena);
    if (box_files_site_get(sup->dir, &arena, &site, NULL) == ERR_OK && site.job_keep_s > 0) {
        jobdir_sweep(sup->jobdirs, supervisor_wall_ms() / 1000 - (int64_t)site.job_keep_s);
    }
    arena_done(&arena);
}

/* Was the whole directory removed, while there is neither a task nor an agent? Then the node is gone: the credential with which an agent
 * could come back was in there. A directory made anew would be left behind for ever. */
static bool node_removed(const struct supervisor *sup)
{
    struct stat info;
    return sup->open_count == 0 && sup->link.fd < 0 && stat(sup->dir, &info) != 0 &&
           errno == ENOENT;
}

static void round_due(void *ctx)
{
    struct supervisor *sup = ctx;
    if (node_removed(sup)) {
        log_info("the node's directory was removed, ending", kv_str("directory", sup->dir));
        loop_stop(sup->loop);
        return;
    }
    upkeep_look(sup);
    files_sweep(sup);
    tasknet_upkeep(sup->networks);
    const bool at_rest = sup->open_count == 0 && sup->trouble[0] == '\0';
    loop_timer_set(sup->upkeep_timer,
                   loop_now_ms(sup->loop) + (at_rest ? UPKEEP_IDLE_MS : UPKEEP_MS));
}

void upkeep_begin(struct supervisor *sup)
{
    sup->upkeep_timer = loop_timer_new(sup->loop, round_due, sup);
    round_due(sup);
}

void upkeep_end(struct supervisor *sup)
{
    loop_timer_free(sup->upkeep_timer);
}

void upkeep_start_failed(struct supervisor *sup, const char *why)
{
    (void)str_copy(sup->start_error, sizeof sup->start_error, why);
    sup->start_trouble_until_ms = loop_now_ms(sup->loop) + START_TROUBLE_MS;
    upkeep_look(sup);
}

void upkeep_spool_renew(struct supervisor *sup)
{
    struct error e;
    if (spool_renew(sup->spool, &e) != ERR_OK) {
        log_error("the damaged spool cannot be made anew", kv_error(&e));
        return;
    }
    log_error("the spool is damaged; what is not acknowledged is recorded again");
    attempt_record_again(sup);
}
