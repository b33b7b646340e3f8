/* replay.c - runs a fuzz target over every file of a corpus directory, with any compiler, so
 * that a bug once found by a fuzzer does not come back.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/mem.h"
#include "base/must.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { INPUT_BYTES_MAX = 1 << 20 };

/* The input lies in memory of exactly its size, so that a sanitizer sees a read beyond the end. */
static void file_run(int dir, const char *name)
{
    int file = openat(dir, name, O_RDONLY | O_CLOEXEC);
    struct stat info;
    must(file >= 0);
    must(fstat(file, &info) == 0);
    must(info.st_size <= INPUT_BYTES_MAX);
    auto_free(freep) uint8_t *data = xmalloc((size_t)info.st_size + (info.st_size == 0));
    must(read(file, data, (size_t)info.st_size) == info.st_size);
    (void)close(file);
    (void)LLVMFuzzerTestOneInput(data, (size_t)info.st_size);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        (void)fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
        return 2;
    }
    DIR *dir = opendir(argv[1]);
    if (dir == NULL) {
        perror(argv[1]);
        return 1;
    }
    unsigned count = 0;
    const struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] != '.') {
            file_run(dirfd(dir), entry->d_name);
            count++;
        }
    }
    (void)closedir(dir);
    (void)printf("%u inputs\n", count);
    return count > 0 ? 0 : 1;
}
