/* confine.c - see confine.h.
 *
 * Surprising: a user namespace of one user takes no right away and gives none over anything outside; it is what allows an ordinary user
 * to make the other namespaces. A program that is executed in it as a user other than root has no rights over the namespaces, and a
 * namespace that it makes itself cannot take these mounts away, because the kernel locks mounts that come from outside.
 * SPDX-License-Identifier: Apache-2.0 */
#include "agent/confine.h"

#include "agent/landlock.h"
#include "base/mem.h"
#include "base/must.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HIDDEN_MAX = 16, MAP_TEXT_MAX = 64 };

static const struct {
    const char *name;
    unsigned bits;
} words[] = {{"auto", CONFINE_ALL},
             {"view", CONFINE_VIEW},
             {"landlock", CONFINE_LANDLOCK | CONFINE_SIGNALS},
             {"no", 0}};

static unsigned bits_of(const char *wanted)
{
    for (size_t i = 0; wanted != NULL && i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(words[i].name, wanted) == 0) {
            return words[i].bits;
        }
    }
    return CONFINE_ALL;
}

must_use enum err confine_check(const char *wanted, struct error *e)
{
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (wanted == NULL || strcmp(words[i].name, wanted) == 0) {
            return ERR_OK;
        }
    }
    return fail(e, ERR_USAGE, "--confine must be auto, view, landlock or no, not '%.64s'", wanted);
}

/* ---- the view ---- */

static bool text_put(const char *path, const char *text)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    const ssize_t len = (ssize_t)strlen(text);
    const bool well = fd >= 0 && write(fd, text, (size_t)len) == len;
    const int number = errno;
    if (fd >= 0) {
        (void)close(fd);
    }
    errno = number;
    return well;
}

must_use enum err confine_user(struct error *e)
{
    const unsigned uid = geteuid();
    const unsigned gid = getegid();
    char users[MAP_TEXT_MAX];
    char groups[MAP_TEXT_MAX];
    (void)snprintf(users, sizeof users, "%u %u 1", uid, uid);
    (void)snprintf(groups, sizeof groups, "%u %u 1", gid, gid);
    /* The files in /proc of a process that is not dumpable belong to root, also uid_map, which this process must write. */
    return prctl(PR_SET_DUMPABLE, 1) == 0 && unshare(CLONE_NEWUSER) == 0 &&
                   text_put("/proc/self/setgroups", "deny") &&
                   text_put("/proc/self/uid_map", users) && text_put("/proc/self/gid_map", groups)
               ? ERR_OK
               : fail_errno(e, ERR_DENIED, errno, "cannot make a user namespace");
}

must_use enum err confine_fork(int *ret_pid, struct error *e)
{
    const long pid = syscall(SYS_clone, CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | SIGCHLD, NULL,
                             NULL, NULL, NULL);
    if (pid < 0) {
        return fail_errno(e, ERR_DENIED, errno, "cannot make the namespaces of a view");
    }
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    }
    *ret_pid = (int)pid;
    return ERR_OK;
}

struct places {
    const char *hidden[HIDDEN_MAX];
    size_t count;
};

/* Is `path` the directory `above`, or below it? */
static bool is_below(const char *path, const char *above)
{
    const size_t len = strlen(above);
    return strncmp(path, above, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

/* Adds a directory under its real name. A directory below another one of the list goes with that one. */
static void place_add(struct places *places, struct arena *arena, const char *path)
{
    auto_free(freep) char *found = realpath(path, NULL);
    struct stat info;
    size_t kept = 0;
    if (found == NULL || stat(found, &info) != 0 || !S_ISDIR(info.st_mode) ||
        strcmp(found, "/") == 0) {
        return;
    }
    for (size_t i = 0; i < places->count; i++) {
        if (is_below(found, places->hidden[i])) {
            return;
        }
        if (!is_below(places->hidden[i], found)) {
            places->hidden[kept++] = places->hidden[i];
        }
    }
    must(kept < HIDDEN_MAX);
    places->hidden[kept++] = arena_str(arena, found);
    places->count = kept;
}

static void places_read(struct places *places, struct arena *arena, const char *list)
{
    for (const char *at = list; *at != '\0' && places->count < HIDDEN_MAX;) {
        const size_t len = strcspn(at, ":");
        if (len > 0) {
            place_add(places, arena, arena_fmt(arena, "%.*s", (int)len, at));
        }
        at += len + (at[len] == ':' ? 1 : 0);
    }
}

/* Makes the directories of the path that are not there. */
static bool path_make(struct arena *arena, const char *path)
{
    char *copy = arena_str(arena, path);
    for (char *slash = strchr(copy + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(copy, 0711) != 0 && errno != EEXIST) {
            return false;
        }
        *slash = '/';
    }
    return mkdir(copy, 0711) == 0 || errno == EEXIST;
}

static bool hide(const struct places *places)
{
    for (size_t i = 0; i < places->count; i++) {
        if (mount("weir", places->hidden[i], "tmpfs", MS_NOSUID | MS_NODEV, "mode=711,size=1m") !=
            0) {
            return false;
        }
    }
    return true;
}

/* Nothing can be written into what is hidden: a task would take it for the real place. */
static bool hidden_close(const struct places *places)
{
    for (size_t i = 0; i < places->count; i++) {
        if (mount(NULL, places->hidden[i], NULL,
                  MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV, NULL) != 0) {
            return false;
        }
    }
    return true;
}

/* Hides the directories and binds what stays of them, by descriptors that were opened before. */
static bool places_mount(const struct confine_view *view, struct arena *arena)
{
    enum { KEEPS = sizeof view->keep / sizeof view->keep[0] };
    struct places places = {.count = 0};
    const char *names[KEEPS];
    int fds[KEEPS];
    bool well = true;
    places_read(&places, arena, view->hidden);
    for (size_t i = 0; i < KEEPS; i++) {
        fds[i] =
            view->keep[i][0] == '\0' ? -1 : open(view->keep[i], O_PATH | O_DIRECTORY | O_CLOEXEC);
        auto_free(freep) char *found = fds[i] < 0 ? NULL : realpath(view->keep[i], NULL);
        names[i] = found == NULL ? "" : arena_str(arena, found);
    }
    well = hide(&places);
    for (size_t i = 0; i < KEEPS; i++) {
        if (well && names[i][0] != '\0') {
            const char *from = arena_fmt(arena, "/proc/self/fd/%d", fds[i]);
            well = path_make(arena, names[i]) &&
                   mount(from, names[i], NULL, MS_BIND | MS_REC, NULL) == 0;
        }
        if (fds[i] >= 0) {
            (void)close(fds[i]);
        }
    }
    return well && hidden_close(&places);
}

must_use enum err confine_mounts(const struct confine_view *view, struct arena *arena,
                                 int *ret_proc, struct error *e)
{
    const unsigned long plain = MS_NOSUID | MS_NODEV;
    struct stat info;
    const int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool well = proc >= 0 && mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0 &&
                mount("proc", "/proc", "proc", plain | MS_NOEXEC, NULL) == 0;
    if (well && stat("/dev/shm", &info) == 0) {
        well = mount("weir", "/dev/shm", "tmpfs", plain, "mode=1777") == 0;
    }
    if (!well || !places_mount(view, arena)) {
        return fail_errno(e, ERR_DENIED, errno, "cannot put the mounts of a view in place");
    }
    *ret_proc = proc;
    return ERR_OK;
}

must_use enum err confine_domain(unsigned with, struct error *e)
{
    if ((with & CONFINE_LANDLOCK) == 0) {
        return ERR_OK;
    }
    /* In a view no other process can be named, and programs that enter the view later shall reach the task. */
    return landlock_enter((with & CONFINE_VIEW) == 0, e);
}

/* ---- what the kernel gives ---- */

static bool view_try(void)
{
    const struct confine_view nothing = {.hidden = "", .keep = {"", ""}};
    struct arena arena;
    struct error e;
    int pid;
    int status;
    if (confine_user(&e) != ERR_OK || confine_fork(&pid, &e) != ERR_OK) {
        return false;
    }
    if (pid == 0) {
        arena_init(&arena);
        int proc;
        _exit(confine_mounts(&nothing, &arena, &proc, &e) == ERR_OK ? 0 : 1);
    }
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool in_child(bool (*works)(void))
{
    int status;
    const pid_t child = fork();
    if (child == 0) {
        _exit(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && works() ? 0 : 1);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

static bool landlock_try(void)
{
    struct error e;
    return landlock_enter(true, &e) == ERR_OK;
}

unsigned confine_able(const char *wanted)
{
    const unsigned bits = bits_of(wanted);
    const int abi = landlock_abi();
    unsigned able = 0;
    if ((bits & CONFINE_VIEW) != 0 && in_child(view_try)) {
        able |= CONFINE_VIEW;
    }
    if ((bits & CONFINE_LANDLOCK) != 0 && abi > 0 && in_child(landlock_try)) {
        able |= CONFINE_LANDLOCK | (abi >= LANDLOCK_ABI_SCOPES ? CONFINE_SIGNALS : 0);
    }
    return able;
}
