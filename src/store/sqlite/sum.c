/* sum.c - see sum.h. A checksum stands in the column `sum` of each table. The SQL function
 * weir_sum() checks it everywhere, and writes it in most tables. sum_row_end() writes the checksum
 * of rows that come often, some for each task. value_add() alone defines what a checksum covers.
 * Facts are chained in C, because the checksum of a fact needs the fact before.
 * SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite/sum.h"

#include "base/mem.h"
#include "store/crc32c.h"

#include <inttypes.h>
#include <string.h>

/* weir_chain() computes the checksum of each fact from the checksum of the fact before. A connection keeps here what weir_chain() was
 * called with last. */
struct chain {
    uint64_t seq;
    uint32_t own;
};

/* The numbers of a fact as the checksum reads them. */
struct fact_head {
    uint64_t seq;
    int64_t time_ms;
    uint32_t type;
    uint32_t before;
};
_Static_assert(sizeof(struct fact_head) == 24, "no padding");

struct store_fact sum_fact_row(sqlite3_stmt *stmt)
{
    return (struct store_fact){.seq = db_u64(stmt, 0),
                               .time_ms = sqlite3_column_int64(stmt, 1),
                               .type = (uint32_t)sqlite3_column_int64(stmt, 2),
                               .body = db_str(stmt, 3)};
}

uint64_t sum_fact(uint32_t before, const struct store_fact *fact)
{
    struct fact_head head = {fact->seq, fact->time_ms, fact->type, before};
    uint32_t crc = crc32c(0, &head, sizeof head);
    return (uint64_t)before << 32 | crc32c(crc, fact->body.p, fact->body.len);
}

bool sum_fact_right(uint64_t sum, const struct store_fact *fact)
{
    return sum == sum_fact(sum_before(sum), fact);
}

enum err sum_fact_fail(const char *dir, uint64_t seq, struct error *e)
{
    return fail(e, ERR_CORRUPT,
                "fact %" PRIu64 " in '%.70s/weir.db' is damaged: `weir db check` lists the damage, "
                "`weir db restore` into a new --dir goes to the newest point that can be proven",
                seq, dir);
}

enum err sum_fact_next(const char *dir, uint64_t seq, uint32_t own, const struct store_fact *fact,
                       uint64_t sum, struct error *e)
{
    if (fact->seq != seq + 1) {
        return fail(e, ERR_CORRUPT, "facts %" PRIu64 " to %" PRIu64 " are missing in '%s/weir.db'",
                    seq + 1, fact->seq - 1, dir);
    }
    if (!sum_fact_right(sum, fact) || (own != 0 && sum_before(sum) != own)) {
        return sum_fact_fail(dir, fact->seq, e);
    }
    return ERR_OK;
}

uint32_t sum_before(uint64_t sum)
{
    return (uint32_t)(sum >> 32);
}

uint32_t sum_own(uint64_t sum)
{
    return (uint32_t)sum;
}

static struct str value_bytes(sqlite3_value *value)
{
    const char *p = sqlite3_value_blob(value);
    int len = sqlite3_value_bytes(value);
    return (struct str){p != NULL ? p : "", len > 0 ? (size_t)len : 0};
}

static void sum_add(struct sum_values *sum, const void *data, size_t len)
{
    if (len > SUM_BYTES - sum->len) {
        sum->crc = crc32c(sum->crc, sum->bytes, sum->len);
        sum->len = 0;
    }
    if (len > SUM_BYTES) {
        sum->crc = crc32c(sum->crc, data, len);
    } else if (len > 0) {
        memcpy(sum->bytes + sum->len, data, len);
        sum->len += len;
    }
}

static uint32_t sum_end(const struct sum_values *sum)
{
    return crc32c(sum->crc, sum->bytes, sum->len);
}

/* Adds one value to the checksum. The type and the length come first, so that different lists of
 * values never give the same bytes. */
static void value_add(struct sum_values *sum, int type, int64_t number, struct str bytes)
{
    const struct {
        int64_t type;
        int64_t number; /* an integer, or the length of a text or blob */
    } head = {type, type == SQLITE_INTEGER ? number : (int64_t)bytes.len};
    sum_add(sum, &head, sizeof head);
    sum_add(sum, bytes.p, bytes.len);
}

static void sql_sum(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct sum_values sum;
    sum.crc = 0;
    sum.len = 0;
    for (int i = 0; i < count; i++) {
        const int type = sqlite3_value_type(values[i]);
        if (type == SQLITE_INTEGER) {
            value_add(&sum, type, sqlite3_value_int64(values[i]), (struct str){"", 0});
        } else {
            value_add(&sum, type, 0, value_bytes(values[i]));
        }
    }
    sqlite3_result_int64(context, sum_end(&sum));
}

void sum_row_begin(struct sum_row *row, sqlite3_stmt *stmt)
{
    row->stmt = stmt;
    row->count = 0;
    row->sum.crc = 0;
    row->sum.len = 0;
}

void sum_row_i64(struct sum_row *row, int64_t value)
{
    db_bind_i64(row->stmt, ++row->count, value);
    value_add(&row->sum, SQLITE_INTEGER, value, (struct str){"", 0});
}

void sum_row_u64(struct sum_row *row, uint64_t value)
{
    must(value <= INT64_MAX);
    sum_row_i64(row, (int64_t)value);
}

void sum_row_text(struct sum_row *row, struct str text)
{
    db_bind_text(row->stmt, ++row->count, text);
    value_add(&row->sum, SQLITE_TEXT, 0, text);
}

void sum_row_blob(struct sum_row *row, struct str bytes)
{
    db_bind_blob(row->stmt, ++row->count, bytes);
    value_add(&row->sum, SQLITE_BLOB, 0, bytes);
}

void sum_row_end(struct sum_row *row)
{
    db_bind_i64(row->stmt, row->count + 1, sum_end(&row->sum));
}

static void sql_chain(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    struct chain *chain = sqlite3_user_data(context);
    struct store_fact fact = {.seq = (uint64_t)sqlite3_value_int64(values[0]),
                              .time_ms = sqlite3_value_int64(values[1]),
                              .type = (uint32_t)sqlite3_value_int64(values[2]),
                              .body = value_bytes(values[3])};
    uint64_t sum = sum_fact(fact.seq == chain->seq + 1 ? chain->own : 0, &fact);
    *chain = (struct chain){fact.seq, sum_own(sum)};
    sqlite3_result_int64(context, (int64_t)sum);
}

enum err sum_register(sqlite3 *db, struct error *e)
{
    struct chain *chain = xcalloc(1, sizeof *chain);
    int rc = sqlite3_create_function_v2(db, "weir_chain", 4, SQLITE_UTF8 | SQLITE_DIRECTONLY, chain,
                                        sql_chain, NULL, NULL, free);
    if (rc == SQLITE_OK) {
        rc = sqlite3_create_function_v2(db, "weir_sum", -1,
                                        SQLITE_UTF8 | SQLITE_DIRECTONLY | SQLITE_DETERMINISTIC,
                                        NULL, sql_sum, NULL, NULL, NULL);
    }
    return rc == SQLITE_OK ? ERR_OK : db_fail(db, "add the checksums", e);
}
