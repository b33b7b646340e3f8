/* top_map.c - the map of `weir top`: a letter for each device. SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "cli/item.h"
#include "cli/top_internal.h"

#include <stdlib.h>
#include <string.h>

enum { LETTERS = 26 };

enum { NODE_NAME, NODE_POOL = 2, NODE_FLAGS = 3, NODE_SLOTS, NODE_FREE, NODE_DEVICES, NODE_HELD };
enum { FLAGS_AWAY = 1 | 2 | 8, FLAG_DRAINING = 4, CELLS_MAX = 64 };

static size_t index_at(const struct doc *list, size_t index)
{
    uint64_t value = 0;
    const struct doc *d = top_doc_nth(list, index);
    return d != NULL && doc_u64(d, &value) ? (size_t)value : 0;
}

static size_t cells_count(const struct doc *node)
{
    const size_t devices = index_at(node, NODE_DEVICES);
    const double slots = top_doc_number(top_doc_nth(node, NODE_SLOTS), "");
    const size_t count = devices > 0 ? devices : (size_t)(slots + 0.999);
    return count < 1 ? 1 : count > CELLS_MAX ? CELLS_MAX : count;
}

/* The letters of the map's tasks, one for each project, by the position of the task. */
static char *letters_make(const struct doc *map)
{
    const struct doc *tasks = top_doc_list(map, "tasks");
    char *letters = xcalloc((tasks != NULL ? tasks->count : 0) + 1, 1);
    size_t i = 0;
    for (const struct doc *d = tasks != NULL ? tasks->first : NULL; d != NULL; d = d->next) {
        letters[i++] = (char)('A' + index_at(d, 2) % LETTERS);
    }
    return letters;
}

/* Writes a letter for each cell: whose task holds it. Cells that nobody holds are '.'. */
static size_t cells_fill(const char *letters, const struct doc *node, char *cells)
{
    const size_t devices = index_at(node, NODE_DEVICES);
    const double slots = top_doc_number(top_doc_nth(node, NODE_SLOTS), "");
    const size_t count = cells_count(node);
    memset(cells, '.', count);
    cells[count] = '\0';
    size_t next = 0;
    const struct doc *held = top_doc_nth(node, NODE_HELD);
    for (const struct doc *o = held != NULL ? held->first : NULL; o != NULL; o = o->next) {
        const char letter = letters[index_at(o, 0)];
        const uint64_t mask = index_at(o, 4) | (uint64_t)index_at(o, 5) << 32;
        const double each = slots / (double)count;
        double left = top_doc_number(top_doc_nth(o, 3), "");
        for (size_t i = 0; devices > 0 && i < count; i++) {
            cells[i] = (mask >> i & 1) != 0 ? letter : cells[i];
        }
        for (; devices == 0 && left > 0.001 && next < count; left -= each) {
            cells[next++] = letter;
        }
    }
    return count;
}

static size_t legend_draw(struct top_screen *screen, size_t row, const struct top_state *state)
{
    static const unsigned looks[] = {LOOK_CYAN, LOOK_GREEN, LOOK_YELLOW, LOOK_BLUE, LOOK_RED};
    const struct doc *projects = top_doc_list(state->map, "projects");
    const size_t columns = top_screen_columns(screen);
    size_t column = 1;
    size_t i = 0;
    for (const struct doc *d = projects != NULL ? projects->first : NULL; d != NULL && i < LETTERS;
         d = d->next, i++) {
        const char letter[2] = {(char)('A' + i), '\0'};
        if (column + 24 > columns) {
            break;
        }
        column = top_screen_put(screen, row, column, 1, looks[i % 5] | LOOK_BOLD, letter);
        column = top_screen_put(screen, row, column + 1, 20, LOOK_PLAIN, item_text(d, "")) + 2;
    }
    top_screen_put(screen, row, column, columns, LOOK_DIM, ". free  x away  ~ draining");
    return row + 1;
}

static void node_draw(struct top_screen *screen, size_t row, size_t column, size_t width,
                      const char *letters, const struct doc *node, size_t name_width)
{
    static const unsigned looks[] = {LOOK_CYAN, LOOK_GREEN, LOOK_YELLOW, LOOK_BLUE, LOOK_RED};
    char cells[CELLS_MAX + 1];
    const size_t flags = index_at(node, NODE_FLAGS);
    const size_t count = cells_fill(letters, node, cells);
    top_screen_put(screen, row, column, name_width,
                   (flags & FLAGS_AWAY) != 0 ? LOOK_RED : LOOK_PLAIN,
                   item_text(top_doc_nth(node, 1), ""));
    top_screen_put(screen, row, column + name_width, 1, LOOK_YELLOW | LOOK_BOLD,
                   (flags & FLAGS_AWAY) != 0      ? "x"
                   : (flags & FLAG_DRAINING) != 0 ? "~"
                                                  : " ");
    column += name_width + 1;
    for (size_t i = 0; i < count && i + name_width + 1 < width; i++) {
        const char glyph[2] = {cells[i], '\0'};
        top_screen_put(screen, row, column + i, 1,
                       cells[i] == '.' ? LOOK_DIM : looks[(size_t)(cells[i] - 'A') % 5], glyph);
    }
}

void top_map_draw(struct top_screen *screen, struct top_state *state)
{
    const struct doc *nodes = top_doc_list(state->map, "nodes");
    const size_t columns = top_screen_columns(screen);
    const size_t last = top_screen_rows(screen) - 1;
    if (nodes == NULL || nodes->count == 0) {
        top_screen_put(screen, HEAD_ROWS, 1, columns, LOOK_DIM,
                       state->map != NULL      ? "no node has joined yet"
                       : state->unseen != NULL ? "nothing to show of that time"
                                               : "asking the server …");
        return;
    }
    size_t name_width = 4;
    size_t cells_width = 4;
    for (const struct doc *d = nodes->first; d != NULL; d = d->next) {
        const size_t len = strlen(item_text(top_doc_nth(d, 1), ""));
        const size_t count = cells_count(d);
        name_width = len > name_width && len <= 20 ? len : name_width;
        cells_width = count > cells_width ? count : cells_width;
    }
    const size_t wanted = name_width + 1 + cells_width + 2;
    const size_t width = wanted < columns ? wanted : columns;
    const size_t across = columns / width > 0 ? (columns - 1) / width : 1;
    const size_t per_row = across > 0 ? across : 1;
    const size_t row = legend_draw(screen, HEAD_ROWS, state) + 1;
    const size_t room = last > row ? last - row : 1;
    const size_t lines = (nodes->count + per_row - 1) / per_row;
    state->rows = lines;
    state->chosen = state->chosen < lines ? state->chosen : lines - 1;
    state->first = lines > room ? (state->chosen < lines - room ? state->chosen : lines - room) : 0;
    const struct doc *node = top_doc_nth(nodes, state->first * per_row);
    char *letters = letters_make(state->map);
    for (size_t i = 0; node != NULL && i < room * per_row; i++, node = node->next) {
        node_draw(screen, row + i / per_row, 1 + i % per_row * width, width - 1, letters, node,
                  name_width);
    }
    free(letters);
}
