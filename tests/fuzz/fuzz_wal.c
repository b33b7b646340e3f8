/* fuzz_wal.c - the files beside the database: the first 40 bytes of the input are the file `acknowledged`, the rest is the
 * write-ahead log. What is read lies within the files, and reading part of the log agrees with reading all of it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/must.h"
#include "store/sqlite/ack.h"
#include "store/sqlite/wal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ACK_BYTES = 40, WAL_HEAD_BYTES = 32, PATH_MAX_LEN = 128 };

static char dir[] = "/tmp/weir-fuzz-XXXXXX";

static void file_path(const char *name, char *ret)
{
    (void)snprintf(ret, PATH_MAX_LEN, "%s/%s", dir, name);
}

static void dir_remove(void)
{
    char path[PATH_MAX_LEN];
    file_path("acknowledged", path);
    (void)unlink(path);
    file_path("weir.db-wal", path);
    (void)unlink(path);
    (void)rmdir(dir);
}

static void file_put(const char *name, const uint8_t *data, size_t size)
{
    char path[PATH_MAX_LEN];
    file_path(name, path);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    must(fd >= 0);
    must(write(fd, data, size) == (ssize_t)size);
    must(close(fd) == 0);
}

static void wal_try(size_t size)
{
    struct error e = {0};
    struct wal whole;
    must(wal_scan(dir, UINT32_MAX, &whole, &e) == ERR_OK);
    must(whole.present == (size > 0));
    must(whole.frames_at <= size);
    if (!whole.head_whole) {
        must(whole.frames == 0 && whole.frames_at == 0);
        return;
    }
    must(whole.frames_at >= WAL_HEAD_BYTES);
    struct wal part;
    const uint32_t half = whole.frames / 2;
    must(wal_scan(dir, half, &part, &e) == ERR_OK);
    must(part.frames == half && part.frames_at <= whole.frames_at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool ready;
    if (!ready) {
        must(mkdtemp(dir) != NULL);
        must(atexit(dir_remove) == 0);
        ready = true;
    }
    const size_t ack_size = size < ACK_BYTES ? size : ACK_BYTES;
    struct error e = {0};
    struct ack ack;
    file_put("acknowledged", data, ack_size);
    file_put("weir.db-wal", data + ack_size, size - ack_size);
    wal_try(size - ack_size);
    const enum err r = ack_read(dir, &ack, &e);
    must(r == ERR_OK || r == ERR_CORRUPT);
    must(r == ERR_OK || (ack.seq == 0 && ack.frames == 0));
    const enum err checked = ack_wal_check(dir, &ack, &e);
    must(checked == ERR_OK || checked == ERR_CORRUPT);
    must(ack.frames > 0 || checked == ERR_OK);
    return 0;
}
