/* fault_io.c - see fault_io.h. Only calls on files below the test's directory count: opening for
 * reading, pipes and the test's own output go through.
 *
 * The names of the C library are given as assembler names, because its headers declare some of them
 * as aliases of others. SPDX-License-Identifier: Apache-2.0 */
#include "fault_io.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

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

/* Counts a call; true when it must fail, errno being set. */
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

/* The next definition of a name after ours. */
static void *real(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

typedef int (*open_fn)(const char *path, int flags, ...);
typedef ssize_t (*pwrite_fn)(int fd, const void *data, size_t len, off_t at);
typedef int (*fd_fn)(int fd);
typedef int (*truncate_fn)(int fd, off_t size);
typedef int (*rename_fn)(const char *from, const char *to);
typedef int (*mkdir_fn)(const char *path, mode_t mode);

static int open_through(const char *name, const char *path, int flags, mode_t mode)
{
    bool writes = (flags & (O_WRONLY | O_RDWR | O_CREAT | O_DIRECTORY)) != 0;
    if (writes && fails()) {
        return -1;
    }
    open_fn function;
    *(void **)&function = real(name);
    return function(path, flags, mode);
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
    return written;
}

static int fd_through(const char *name, int fd)
{
    fd_fn function;
    *(void **)&function = real(name);
    return fails() ? -1 : function(fd);
}

static int truncate_through(const char *name, int fd, off_t size)
{
    truncate_fn function;
    *(void **)&function = real(name);
    return fails() ? -1 : function(fd, size);
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
    return fails() ? -1 : function(from, to);
}

int fault_mkdir(const char *path, mode_t mode)
{
    mkdir_fn function;
    *(void **)&function = real("mkdir");
    return fails() ? -1 : function(path, mode);
}
