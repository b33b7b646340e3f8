/* box_image.c - see box_image.h.
 *
 *   weir box ─┬─▶ first process of a new pid namespace ─▶ crun run ─▶ the task's program
 *             └── waits; its process group gets the supervisor's signals, and crun passes them on
 *
 * The pid namespace is made here and not by the runtime: so the task's program is not its first process and
 * is ended by SIGTERM like any other, and SIGKILL of the group ends all of the namespace at once. The root
 * is read-only; the job directory, /tmp and what the site allows are writable. cgroups are not the runtime's
 * business: the processes stay in the attempt's own. SPDX-License-Identifier: Apache-2.0 */
#include "agent/box_image.h"

#include "agent/box_store.h"
#include "agent/box_view.h"
#include "agent/dirs.h"
#include "agent/gpu_nodes.h"
#include "agent/taskenv.h"
#include "base/buf.h"
#include "base/doc.h"
#include "base/json_out.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CONFIG_BYTES_MAX = 4 * 1024 * 1024, ENV_TOTAL_MAX = TASK_ENV_MAX + 512 };

#define INSIDE_JOB "/weir/job"

/* Where the container has the job directory. */
static const char *inside_job(const struct box *box)
{
    return box->view.job[0] != '\0' ? box->view.job : INSIDE_JOB;
}
#define UNIFIED "/sys/fs/cgroup/unified"

const char *box_image_runtime(const char *wanted, struct arena *arena)
{
    static const char *const dirs[] = {"/usr/local/bin", "/usr/bin", "/usr/local/sbin",
                                       "/usr/sbin"};
    static const char *const names[] = {"crun", "runc"};
    if (geteuid() != 0 || (wanted != NULL && strcmp(wanted, "none") == 0)) {
        return "";
    }
    if (wanted != NULL && wanted[0] == '/') {
        return access(wanted, X_OK) == 0 ? wanted : "";
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        for (size_t k = 0; k < sizeof dirs / sizeof dirs[0]; k++) {
            const char *path = arena_fmt(arena, "%s/%s", dirs[k], names[i]);
            if ((wanted == NULL || strcmp(wanted, names[i]) == 0) && access(path, X_OK) == 0) {
                return path;
            }
        }
    }
    return "";
}

/* ---- config.json ---- */

static void mount_put(struct json_out *j, const char *target, const char *type, const char *source,
                      const char *options)
{
    json_out_object(j);
    json_out_kv_text(j, "destination", target);
    json_out_kv_text(j, "type", type);
    json_out_kv_text(j, "source", source);
    json_out_key(j, "options");
    json_out_array(j);
    struct str rest = str_of(options);
    while (rest.p != NULL) {
        json_out_str(j, str_cut(rest, ',', &rest));
    }
    json_out_end(j);
    json_out_end(j);
}

/* One mount of the task: "SOURCE:TARGET" or "SOURCE:TARGET:rw", where the site allows the source. */
static must_use enum err task_mount_put(struct box *box, struct json_out *j, const char *text,
                                        struct error *e)
{
    struct str rest;
    struct str source = str_cut(str_of(text), ':', &rest);
    struct str word = {NULL, 0};
    struct str target = rest.p == NULL ? rest : str_cut(rest, ':', &word);
    const char *real;
    bool writable = false;
    if (target.p == NULL || target.len == 0 || target.p[0] != '/' ||
        (word.p != NULL && !str_is(word, "rw") && !str_is(word, "ro"))) {
        return fail(e, ERR_INVALID, "the mount '%.120s' must be SOURCE:TARGET or SOURCE:TARGET:rw",
                    text);
    }
    const char *path = arena_strn(&box->arena, source.p, source.len);
    if (!box_store_below(box->site.binds, path, &box->arena, &real, &writable)) {
        return fail(e, ERR_DENIED,
                    "this node does not allow the mount of '%.120s': --allow-binds "
                    "of its agent does not name the directory",
                    path);
    }
    if (str_is(word, "rw") && !writable) {
        return fail(e, ERR_DENIED, "this node allows '%.120s' for reading only", path);
    }
    mount_put(j, arena_strn(&box->arena, target.p, target.len), "bind", real,
              str_is(word, "rw") ? "rbind,rw,nosuid,nodev" : "rbind,ro,nosuid,nodev");
    return ERR_OK;
}

/* A directory of the task's view. Without a source it is an empty one around the others. */
static void view_mount_put(void *ctx, const char *place, const char *source)
{
    if (*source == '\0') {
        mount_put(ctx, place, "tmpfs", "tmpfs", "nosuid,nodev,mode=755,size=4m");
    } else {
        mount_put(ctx, place, "bind", source, "bind,rw,nosuid,nodev");
    }
}

static must_use enum err mounts_put(struct box *box, struct json_out *j, struct error *e)
{
    static const char *const files[] = {"/etc/resolv.conf", "/etc/hosts"};
    enum err r = ERR_OK;
    json_out_key(j, "mounts");
    json_out_array(j);
    mount_put(j, "/proc", "proc", "proc", "nosuid,noexec,nodev");
    mount_put(j, "/dev", "tmpfs", "tmpfs", "nosuid,strictatime,mode=755,size=65536k");
    mount_put(j, "/dev/pts", "devpts", "devpts",
              "nosuid,noexec,newinstance,ptmxmode=0666,mode=0620");
    mount_put(j, "/dev/shm", "tmpfs", "shm", "nosuid,noexec,nodev,mode=1777");
    mount_put(j, "/sys", "bind", "/sys", "rbind,ro,nosuid,noexec,nodev");
    mount_put(j, "/tmp", "tmpfs", "tmpfs", "nosuid,nodev,mode=1777");
    if (box->view.job[0] == '\0') {
        mount_put(j, INSIDE_JOB, "bind", box->start.job_dir, "bind,rw,nosuid,nodev");
    }
    box_view_mounts(box, view_mount_put, j);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (access(files[i], R_OK) == 0) {
            mount_put(j, files[i], "bind", files[i], "bind,ro,nosuid,nodev,noexec");
        }
    }
    for (size_t i = 0; r == ERR_OK && i < box->order.mount_count; i++) {
        if (!box_view_word(box->order.mounts[i])) {
            r = task_mount_put(box, j, box->order.mounts[i], e);
        }
    }
    json_out_end(j);
    return r;
}

static size_t name_len(const char *entry)
{
    const char *equals = strchr(entry, '=');
    return equals == NULL ? strlen(entry) : (size_t)(equals - entry);
}

static bool env_has(const struct box_start *start, const char *entry)
{
    const size_t len = name_len(entry);
    for (size_t i = 0; i < start->env_count; i++) {
        if (strncmp(start->env[i], entry, len) == 0 && start->env[i][len] == '=') {
            return true;
        }
    }
    return false;
}

/* The environment: the image's, and over it the task's. The defaults of a plain process for PATH and HOME
 * do not hide those of the image; the names of the job directory are those inside. */
static void env_put(struct box *box, struct json_out *j, const struct doc *image)
{
    static const char path_default[] = "PATH=" TASKENV_PATH_DEFAULT;
    const struct box_start *start = &box->start;
    const char *job = inside_job(box);
    const char *image_path = NULL;
    json_out_key(j, "env");
    json_out_array(j);
    const struct doc *list = image == NULL ? NULL : doc_get(doc_get(image, "process"), "env");
    size_t count = 0;
    for (const struct doc *d = list == NULL ? NULL : list->first; d != NULL && count < 512;
         d = d->next, count++) {
        const char *entry = NULL;
        if (!doc_text(d, &entry)) {
            continue;
        }
        if (strncmp(entry, "PATH=", 5) == 0) {
            image_path = entry;
        } else if (strncmp(entry, "HOME=", 5) != 0 && !env_has(start, entry)) {
            json_out_text(j, entry);
        }
    }
    for (size_t i = 0; i < start->env_count; i++) {
        const char *entry = start->env[i];
        if (image_path != NULL && strcmp(entry, path_default) == 0) {
            entry = image_path;
        } else if (strncmp(entry, "WEIR_JOB_DIR=", 13) == 0) {
            entry = arena_fmt(&box->arena, "WEIR_JOB_DIR=%s", job);
        } else if (strncmp(entry, "WEIR_CHECKPOINT_FILE=", 21) == 0) {
            entry = arena_fmt(&box->arena, "WEIR_CHECKPOINT_FILE=%s/" CHECKPOINT_FILE, job);
        } else if (strncmp(entry, "HOME=", 5) == 0) {
            entry = arena_fmt(&box->arena, "HOME=%s", job);
        }
        json_out_text(j, entry);
    }
    if (box->view.pool[0] != '\0') {
        json_out_text(j, arena_fmt(&box->arena, "WEIR_POOL_DIR=%s", box->view.pool));
    }
    json_out_end(j);
}

/* The task's work directory where the image has it, else the job directory. */
static const char *cwd_of(const struct box *box, const char *rootfs)
{
    const char *workdir = box->start.workdir;
    struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};
    if (workdir[0] != '/') {
        return inside_job(box);
    }
    if (strncmp(workdir, INSIDE_JOB, sizeof INSIDE_JOB - 1) == 0) {
        return workdir;
    }
    for (size_t i = 0; i < box->order.mount_count; i++) {
        const char *target = strchr(box->order.mounts[i], ':');
        if (target != NULL && strncmp(target + 1, workdir, strlen(workdir)) == 0) {
            return workdir;
        }
    }
    const int root = open(rootfs, O_PATH | O_DIRECTORY | O_CLOEXEC);
    const int fd = root < 0 ? -1 : (int)syscall(SYS_openat2, root, workdir, &how, sizeof how);
    if (root >= 0) {
        (void)close(root);
    }
    if (fd < 0) {
        (void)fprintf(stderr,
                      "weir: the image has no directory '%.200s'; running in the job directory\n",
                      workdir);
        return inside_job(box);
    }
    (void)close(fd);
    return workdir;
}

static void process_put(struct box *box, struct json_out *j, const char *rootfs,
                        const struct doc *image)
{
    const struct box_start *start = &box->start;
    json_out_key(j, "process");
    json_out_object(j);
    json_out_kv_bool(j, "terminal", false);
    json_out_key(j, "user");
    json_out_object(j);
    json_out_kv_u64(j, "uid", start->uid);
    json_out_kv_u64(j, "gid", start->gid);
    json_out_key(j, "additionalGids");
    json_out_array(j);
    for (size_t i = 0; i < start->group_count; i++) {
        json_out_u64(j, start->groups[i]);
    }
    json_out_end(j);
    json_out_end(j);
    json_out_key(j, "args");
    json_out_array(j);
    for (size_t i = 0; i < start->argv_count; i++) {
        json_out_text(j, start->argv[i]);
    }
    json_out_end(j);
    env_put(box, j, image);
    json_out_kv_text(j, "cwd", cwd_of(box, rootfs));
    json_out_key(j, "capabilities");
    json_out_object(j); /* none */
    json_out_end(j);
    json_out_kv_bool(j, "noNewPrivileges", true);
    json_out_end(j);
}

static void device_put(struct json_out *j, const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISCHR(info.st_mode)) {
        return;
    }
    json_out_object(j);
    json_out_kv_text(j, "path", path);
    json_out_kv_text(j, "type", "c");
    json_out_kv_u64(j, "major", major(info.st_rdev));
    json_out_kv_u64(j, "minor", minor(info.st_rdev));
    json_out_kv_u64(j, "fileMode", 0666);
    json_out_end(j);
}

/* Only the GPUs of the task, and with them the devices that all of them share. */
static void devices_put(struct box *box, struct json_out *j)
{
    const char *const *paths = gpu_nodes(&box->arena, (char *const *)(uintptr_t)box->start.env);
    json_out_key(j, "devices");
    json_out_array(j);
    for (; *paths != NULL; paths++) {
        device_put(j, *paths);
    }
    json_out_end(j);
}

static void paths_put(struct json_out *j, const char *key, const char *list)
{
    json_out_key(j, key);
    json_out_array(j);
    struct str rest = str_of(list);
    while (rest.p != NULL) {
        json_out_str(j, str_cut(rest, ' ', &rest));
    }
    json_out_end(j);
}

static must_use enum err config_write(struct box *box, const struct box_rootfs *rootfs,
                                      const char *bundle, struct error *e)
{
    struct buf out;
    struct json_out j;
    struct str text;
    struct doc *image = NULL;
    if (rootfs->config[0] != '\0' &&
        dirs_read(arena_fmt(&box->arena, "%.*s",
                            (int)(strlen(rootfs->config) - strlen("/config.json")), rootfs->config),
                  "config.json", &box->arena, &text, e) == ERR_OK) {
        (void)!doc_json_parse(&box->arena, text, &image, e);
    }
    buf_init(&out, CONFIG_BYTES_MAX);
    json_out_init(&j, &out);
    json_out_object(&j);
    json_out_kv_text(&j, "ociVersion", "1.0.2");
    process_put(box, &j, rootfs->path, image);
    json_out_put(&j, "root:{path:%s,readonly:%i},hostname:%s", rootfs->path, true, "weir");
    enum err r = mounts_put(box, &j, e);
    json_out_key(&j, "linux");
    json_out_object(&j);
    json_out_put(&j, "namespaces:[{type:%s},{type:%s},{type:%s}]", "mount", "ipc", "uts");
    devices_put(box, &j);
    paths_put(&j, "maskedPaths",
              "/proc/acpi /proc/kcore /proc/keys /proc/latency_stats /proc/timer_list "
              "/proc/sched_debug /proc/scsi /sys/firmware");
    paths_put(&j, "readonlyPaths", "/proc/bus /proc/fs /proc/irq /proc/sys /proc/sysrq-trigger");
    json_out_end(&j);
    json_out_end(&j);
    if (r == ERR_OK && out.full) {
        r = fail(e, ERR_LIMIT, "the task is too large for a container");
    }
    r = r == ERR_OK ? dirs_write(bundle, "config.json", (struct str){buf_text(&out), out.len}, e)
                    : r;
    buf_done(&out);
    return r;
}

/* ---- running ---- */

/* The first process of the new pid namespace. Its mounts are its own. */
static _Noreturn void first_process(const char *const *argv)
{
    static const char *const env[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL};
    int status = 0;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0) {
        (void)fprintf(stderr, "weir: cannot make a view of its own for the container\n");
        _exit(BOX_EXIT_FAILED);
    }
    /* crun refuses to work where both kinds of cgroups are mounted, although it is to use neither. */
    (void)umount2(UNIFIED, MNT_DETACH);
    const pid_t runtime = fork();
    if (runtime == 0) {
        (void)execve(argv[0], (char *const *)(uintptr_t)argv, (char *const *)(uintptr_t)env);
        _exit(BOX_EXIT_NOT_FOUND);
    }
    pid_t ended;
    do {
        ended = waitpid(-1, &status, 0);
    } while (ended > 0 ? ended != runtime : errno == EINTR);
    _exit(ended == runtime ? box_code_of(status) : BOX_EXIT_FAILED);
}

static int container_run(const char *const *argv, struct error *e)
{
    int status = 0;
    const long child =
        syscall(SYS_clone, CLONE_NEWPID | CLONE_NEWNS | SIGCHLD, NULL, NULL, NULL, NULL);
    if (child == 0) {
        first_process(argv);
    }
    if (child < 0) {
        (void)fail_errno(e, ERR_IO, errno, "cannot make a container");
        return BOX_EXIT_FAILED;
    }
    box_signals_leave();
    while (waitpid((pid_t)child, &status, 0) < 0) {
        if (errno != EINTR) {
            (void)fail_errno(e, ERR_IO, errno, "the container is lost");
            return BOX_EXIT_FAILED;
        }
    }
    return -1 - box_code_of(status);
}

int box_image_run(struct box *box, struct error *e)
{
    struct arena *arena = &box->arena;
    struct box_rootfs rootfs = {.use_fd = -1};
    if (box->site.runtime[0] == '\0' || !box->start.switch_user) {
        (void)fail(e, ERR_DENIED,
                   "this node runs no containers: its agent does not run as root, or "
                   "finds neither crun nor runc");
        return BOX_EXIT_FAILED;
    }
    const char *bundle = arena_fmt(arena, "%s/box/%s/bundle", box->dir, box->name);
    const char *state = arena_fmt(arena, "%s/box/%s/state", box->dir, box->name);
    (void)mkdir(bundle, 0700);
    enum err r = box_store_take(box, &rootfs, e);
    r = r == ERR_OK ? config_write(box, &rootfs, bundle, e) : r;
    if (r != ERR_OK) {
        return BOX_EXIT_FAILED;
    }
    char *id = arena_fmt(arena, "weir-%s", box->name);
    for (char *p = id; *p != '\0'; p++) {
        *p = *p == ':' ? '-' : *p;
    }
    const bool crun = strstr(box->site.runtime, "crun") != NULL;
    const char *const with_crun[] = {box->site.runtime,
                                     "--root",
                                     state,
                                     "--cgroup-manager",
                                     "disabled",
                                     "run",
                                     "--bundle",
                                     bundle,
                                     id,
                                     NULL};
    const char *const with_runc[] = {box->site.runtime, "--root", state, "run",
                                     "--bundle",        bundle,   id,    NULL};
    return container_run(crun ? with_crun : with_runc, e);
}
