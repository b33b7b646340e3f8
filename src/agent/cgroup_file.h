/* cgroup_file.h - reads and writes the small files of cgroups. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { CGROUP_LINE_MAX = 4096 };

/* Reads the file `dir`/`name` as a text of less than `size` bytes. False: it cannot be read. */
bool cgroup_file_read(const char *dir, const char *name, char *out, size_t size);

/* Opens the file, so that it can be read or written many times. -1: the file cannot be opened. */
int cgroup_file_open(const char *dir, const char *name, int flags);

/* Reads an open file from its beginning, as a text of less than `size` bytes. False: the file
 * cannot be read. */
bool cgroup_file_again(int fd, char *out, size_t size);

/* Writes a text. False: the kernel refuses it; errno says why. */
bool cgroup_file_write(const char *dir, const char *name, const char *text);

/* The number behind "key " at the beginning of a line; false: there is no such line. */
bool cgroup_file_key(const char *text, const char *key, uint64_t *ret);

/* Sends SIGKILL to each process that the file lists, and returns how many there are. */
size_t cgroup_file_kill(const char *dir, const char *name);

/* Adds up the resident memory of the processes that the file lists, at most the first 1,024 of them.
 * False: the list cannot be read. */
bool cgroup_file_memory(const char *dir, const char *name, uint64_t *ret);
