/* fault_io.c - see fault_io.h. Only calls on files below the test's directory count; opening for
 * reading, pipes and the test's own output pass. The C library's functions are named by
 * assembler names, because its headers declare some as aliases of others.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fault_io.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static void (*watcher)(const struct io_event *event);
static struct fault current;
static int calls;
static bool hit;

void fault_set(const struct fault *fault)
{
    current = *fault;
    calls = 0;
    hit = false;
}

void fault_clear(void)
{
    current.at = 0;
}

int fault_calls(void)
{
    return calls;
}

bool fault_hit(void)
{
    return hit;
}

/* Counts a call; true: the call must fail, and errno is set. */
static bool fails(void)
{
    if (current.at == 0) {
        return false;
    }
    calls++;
    if (calls != current.at && !(current.stays && calls > current.at)) {
        return false;
    }
    hit = true;
    errno = current.number;
    return true;
}

void io_watch(void (*function)(const struct io_event *event))
{
    watcher = function;
}

/* Tells the watcher about a file, by its descriptor or, without one, by its name. */
static void tell(struct io_event event, int fd)
{
    struct stat status;
    char link[64];
    char path[256];
    if (watcher == NULL) {
        return;
    }
    if (fd >= 0 && fstat(fd, &status) == 0) {
        event.inode = status.st_ino;
        event.is_dir = S_ISDIR(status.st_mode);
    }
    if (event.is_dir) {
        (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        ssize_t len = readlink(link, path, sizeof path - 1);
        path[len > 0 ? len : 0] = '\0';
        event.path = path;
    }
    watcher(&event);
}

/* Returns the next definition of a name after the one in this program. */
static void *real(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

typedef int (*open_fn)(const char *path, int flags, ...);
typedef ssize_t (*pwrite_fn)(int fd, const void *data, size_t len, off_t at);
typedef int (*fd_fn)(int fd);
typedef int (*truncate_fn)(int fd, off_t size);
typedef int (*rename_fn)(const char *from, const char *to);
typedef int (*unlink_fn)(const char *path);
typedef int (*mkdir_fn)(const char *path, mode_t mode);

static int open_through(const char *name, const char *path, int flags, mode_t mode)
{
    bool writes = (flags & (O_WRONLY | O_RDWR | O_CREAT | O_DIRECTORY)) != 0;
    if (writes && fails()) {
        return -1;
    }
    open_fn function;
    *(void **)&function = real(name);
    bool is_new = watcher != NULL && (flags & O_CREAT) != 0 && access(path, F_OK) != 0;
    int fd = function(path, flags, mode);
    if (is_new && fd >= 0) {
        tell((struct io_event){.kind = IO_CREATED, .path = path}, fd);
    }
    return fd;
}

static ssize_t pwrite_through(const char *name, int fd, const void *data, size_t len, off_t at)
{
    bool fail = fails();
    int number = errno;
    pwrite_fn function;
    *(void **)&function = real(name);
    ssize_t written = function(fd, data, fail ? len / 2 : len, at);
    if (fail) {
        errno = number;
        return -1;
    }
    if (written > 0) {
        tell(
            (struct io_event){
                .kind = IO_WRITTEN, .data = data, .len = (uint64_t)written, .at = (uint64_t)at},
            fd);
    }
    return written;
}

static int fd_through(const char *name, int fd)
{
    fd_fn function;
    *(void **)&function = real(name);
    int r = fails() ? -1 : function(fd);
    if (r == 0) {
        tell((struct io_event){.kind = IO_SYNCED}, fd);
    }
    return r;
}

static int truncate_through(const char *name, int fd, off_t size)
{
    truncate_fn function;
    *(void **)&function = real(name);
    int r = fails() ? -1 : function(fd, size);
    if (r == 0) {
        tell((struct io_event){.kind = IO_TRUNCATED, .len = (uint64_t)size}, fd);
    }
    return r;
}

#define EXPORTED __attribute__((visibility("default")))

static mode_t mode_of(int flags, va_list args)
{
    return (flags & O_CREAT) != 0 ? va_arg(args, mode_t) : 0;
}

EXPORTED int fault_open(const char *path, int flags, ...) __asm__("open");
EXPORTED int fault_open64(const char *path, int flags, ...) __asm__("open64");
EXPORTED ssize_t fault_pwrite(int fd, const void *data, size_t len, off_t at) __asm__("pwrite");
EXPORTED ssize_t fault_pwrite64(int fd, const void *data, size_t len, off_t at) __asm__("pwrite64");
EXPORTED int fault_fsync(int fd) __asm__("fsync");
EXPORTED int fault_fdatasync(int fd) __asm__("fdatasync");
EXPORTED int fault_ftruncate(int fd, off_t size) __asm__("ftruncate");
EXPORTED int fault_ftruncate64(int fd, off_t size) __asm__("ftruncate64");
EXPORTED int fault_rename(const char *from, const char *to) __asm__("rename");
EXPORTED int fault_unlink(const char *path) __asm__("unlink");
EXPORTED int fault_mkdir(const char *path, mode_t mode) __asm__("mkdir");

int fault_open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = mode_of(flags, args);
    va_end(args);
    return open_through("open", path, flags, mode);
}

int fault_open64(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = mode_of(flags, args);
    va_end(args);
    return open_through("open64", path, flags, mode);
}

ssize_t fault_pwrite(int fd, const void *data, size_t len, off_t at)
{
    return pwrite_through("pwrite", fd, data, len, at);
}

ssize_t fault_pwrite64(int fd, const void *data, size_t len, off_t at)
{
    return pwrite_through("pwrite64", fd, data, len, at);
}

int fault_fsync(int fd)
{
    return fd_through("fsync", fd);
}

int fault_fdatasync(int fd)
{
    return fd_through("fdatasync", fd);
}

int fault_ftruncate(int fd, off_t size)
{
    return truncate_through("ftruncate", fd, size);
}

int fault_ftruncate64(int fd, off_t size)
{
    return truncate_through("ftruncate64", fd, size);
}

int fault_rename(const char *from, const char *to)
{
    rename_fn function;
    *(void **)&function = real("rename");
    int r = fails() ? -1 : function(from, to);
    if (r == 0) {
        tell((struct io_event){.kind = IO_RENAMED, .path = from, .to = to}, -1);
    }
    return r;
}

int fault_mkdir(const char *path, mode_t mode)
{
    mkdir_fn function;
    *(void **)&function = real("mkdir");
    return fails() ? -1 : function(path, mode);
}

/* A removal never fails here, because nothing relies on it. */
int fault_unlink(const char *path)
{
    unlink_fn function;
    *(void **)&function = real("unlink");
    int r = function(path);
    if (r == 0) {
        tell((struct io_event){.kind = IO_REMOVED, .path = path}, -1);
    }
    return r;
}
