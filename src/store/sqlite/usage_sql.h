/* usage_sql.h - the statements of the accounting, for store.c and store_reader.c, which prepare all statements.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "store/sqlite/sum.h"

/* The statement has one parameter for each column, in the order of the columns. The last one is the
 * checksum. */
#define USAGE_PIECE_PUT "INSERT OR REPLACE INTO usage_piece VALUES (" USAGE_16 ", ?17)"
#define USAGE_9 "?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9"
#define USAGE_16 USAGE_9 ", ?10, ?11, ?12, ?13, ?14, ?15, ?16"
#define USAGE_18 USAGE_16 ", ?17, ?18"

/* A sum stays at this number: a sum beyond 64 bits would make the commit fail. */
#define USAGE_ROW_MAX 9007199254740991
#define USAGE_TEXT(number) USAGE_DIGITS(number)
#define USAGE_DIGITS(number) #number
/* clang-format off */
#define USAGE_NEW(column) "min(" #column " + excluded." #column ", " USAGE_TEXT(USAGE_ROW_MAX) ")"
#define USAGE_MORE(column) #column " = " USAGE_NEW(column) ", "
#define USAGE_NEXT(column) ", " USAGE_NEW(column)

/* The sums are bound in the order of enum store_usage_sum. A damaged row stays damaged: its checksum is not made anew. */
#define USAGE_DAY_ADD                                                                              \
    "INSERT INTO usage_day VALUES (" USAGE_18 ", weir_sum(" USAGE_18 ")) "                         \
    "ON CONFLICT (day, pool, project, user, kind) DO UPDATE SET "                                  \
    USAGE_MORE(asked) USAGE_MORE(used) USAGE_MORE(lost) USAGE_MORE(waited)                         \
    USAGE_MORE(completed) USAGE_MORE(failed) USAGE_MORE(killed) USAGE_MORE(unavailable)            \
    USAGE_MORE(unknown) USAGE_MORE(tries) USAGE_MORE(tries_bad) USAGE_MORE(evicted)                \
    USAGE_MORE(node_lost)                                                                          \
    "sum = CASE WHEN " SUM_DAY " THEN weir_sum(day, pool, project, user, kind"                     \
    USAGE_NEXT(asked) USAGE_NEXT(used) USAGE_NEXT(lost) USAGE_NEXT(waited)                         \
    USAGE_NEXT(completed) USAGE_NEXT(failed) USAGE_NEXT(killed) USAGE_NEXT(unavailable)            \
    USAGE_NEXT(unknown) USAGE_NEXT(tries) USAGE_NEXT(tries_bad) USAGE_NEXT(evicted)                \
    USAGE_NEXT(node_lost) ") ELSE sum END"

#define USAGE_NODE_ADD                                                                             \
    "INSERT INTO usage_node VALUES (" USAGE_9 ", weir_sum(" USAGE_9 ")) "                          \
    "ON CONFLICT (day, pool, node) DO UPDATE SET "                                                 \
    USAGE_MORE(used) USAGE_MORE(lost) USAGE_MORE(tries) USAGE_MORE(tries_bad)                      \
    USAGE_MORE(evicted) USAGE_MORE(node_lost)                                                      \
    "sum = CASE WHEN " SUM_NODE " THEN weir_sum(day, pool, node"                                   \
    USAGE_NEXT(used) USAGE_NEXT(lost) USAGE_NEXT(tries) USAGE_NEXT(tries_bad)                      \
    USAGE_NEXT(evicted) USAGE_NEXT(node_lost) ") ELSE sum END"
/* clang-format on */

/* Parameters of both readings: 1 by, 2 first and 3 first-not of the whole days, 4 and 5 the days of which
 * pieces are read (-1: none), 6 since, 7 until, 8 pool, 9 rows at most; 10 user and 11 project. */

/* What of a piece lies between since and until. */
#define USAGE_PART                                                                                 \
    "slots_milli * max(0, min(end_ms, ?7) - max(begin_ms, ?6)) / 1000 AS used, "                   \
    "slots_milli * max(0, min(end_ms, ?7) - max(lost_ms, begin_ms, ?6)) / 1000 AS lost, "          \
    "(end_ms >= ?6 AND end_ms < ?7) * ending AS ended, " SUM_PIECE " AS whole"

#define USAGE_READ                                                                                 \
    "SELECT key, sum(asked), sum(used), sum(lost), sum(waited), sum(completed), sum(failed), "     \
    "sum(killed), sum(unavailable), sum(unknown), sum(tries), sum(tries_bad), sum(evicted), "      \
    "sum(node_lost), weir_cost(used, pool), min(whole) FROM ("                                     \
    "SELECT CASE ?1 WHEN 0 THEN user WHEN 1 THEN project WHEN 2 THEN pool WHEN 3 THEN kind "       \
    "ELSE day END AS key, asked, used, lost, waited, completed, failed, killed, unavailable, "     \
    "unknown, tries, tries_bad, evicted, node_lost, pool, " SUM_DAY " AS whole FROM usage_day "    \
    "WHERE day >= ?2 AND day < ?3 AND (?8 IS NULL OR pool = ?8) "                                  \
    "AND (?10 IS NULL OR user = ?10) AND (?11 IS NULL OR project = ?11) UNION ALL "                \
    "SELECT key, (end_ms >= ?6 AND end_ms < ?7) * asked, used, lost, "                             \
    "(begin_ms >= ?6 AND begin_ms < ?7) * waited, ended = 1, ended = 2, ended = 3, ended = 4, "    \
    "ended = 5, ended >= 6, ended = 7, ended = 8, ended = 9, pool, whole FROM (SELECT "            \
    "CASE ?1 WHEN 0 THEN user WHEN 1 THEN project WHEN 2 THEN pool WHEN 3 THEN kind "              \
    "ELSE day END AS key, begin_ms, end_ms, asked, waited, pool, " USAGE_PART " FROM usage_piece " \
    "WHERE day IN (?4, ?5) AND (?8 IS NULL OR pool = ?8) "                                         \
    "AND (?10 IS NULL OR user = ?10) AND (?11 IS NULL OR project = ?11))) "                        \
    "GROUP BY key ORDER BY CASE ?1 WHEN 4 THEN key END, 3 DESC, key LIMIT ?9"

#define USAGE_READ_NODE                                                                            \
    "SELECT key, 0, sum(used), sum(lost), 0, 0, 0, 0, 0, 0, sum(tries), sum(tries_bad), "          \
    "sum(evicted), sum(node_lost), weir_cost(used, pool), min(whole) FROM ("                       \
    "SELECT node AS key, used, lost, tries, tries_bad, evicted, node_lost, pool, " SUM_NODE        \
    " AS whole FROM usage_node "                                                                   \
    "WHERE day >= ?2 AND day < ?3 AND (?8 IS NULL OR pool = ?8) UNION ALL "                        \
    "SELECT key, used, lost, ended >= 6, ended = 7, ended = 8, ended = 9, pool, whole FROM ("      \
    "SELECT node AS key, pool, " USAGE_PART " FROM usage_piece "                                   \
    "WHERE day IN (?4, ?5) AND node <> '' AND (?8 IS NULL OR pool = ?8))) "                        \
    "GROUP BY key ORDER BY 3 DESC, key LIMIT ?9"

/* Parameters: 1 the first and 2 the last day, 3 since, 4 until, 5 pool, 6 node, 7 pieces looked at, 8 rows at most.
 * An attempt has a piece for each day; what was lost lies at its end. The key begins with the day, so that the days
 * asked for are read and no others. */
#define TIMELINE_READ                                                                              \
    "SELECT task, idx, attempt, min(begin_ms), max(end_ms), "                                      \
    "sum(max(0, end_ms - max(lost_ms, begin_ms))), max(ending), slots_milli, pool, user, "         \
    "project, node, min(" SUM_PIECE "), max(waited) * 1000 / max(slots_milli, 1) "                 \
    "FROM (SELECT * FROM usage_piece "                                                             \
    "WHERE day >= ?1 AND day <= ?2 ORDER BY day DESC LIMIT ?7) "                                   \
    "WHERE idx >= 0 AND end_ms > ?3 AND begin_ms < ?4 AND (?5 IS NULL OR pool = ?5) "              \
    "AND (?6 IS NULL OR node = ?6) GROUP BY task, idx, attempt "                                   \
    "ORDER BY min(max(end_ms), ?4) - max(min(begin_ms), ?3) DESC, task, idx, attempt LIMIT ?8"
#define TIMELINE_ROWS                                                                              \
    "SELECT count(*) FROM (SELECT 1 FROM usage_piece WHERE day >= ?1 AND day <= ?2 LIMIT ?3)"
