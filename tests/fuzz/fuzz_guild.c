/* fuzz_guild.c - tags and environments of Guild AI. Accepted amounts are within their bounds, sorted, and shown in a form that reads back as
 * the same amounts; a word that is split off is never longer than its text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/arena.h"
#include "base/must.h"
#include "compat/guild/guild_needs.h"
#include "compat/guild/guild_words.h"

#include <string.h>

static void needs_try(struct arena *arena, struct str text)
{
    struct guild_needs needs = {0};
    struct guild_needs back = {0};
    struct error e = {0};
    bool ignored;
    if (guild_needs_add(&needs, text, arena, &ignored, &e) != ERR_OK) {
        return;
    }
    must(needs.count <= GUILD_NEEDS_MAX);
    for (size_t i = 0; i < needs.count; i++) {
        must(needs.at[i].milli >= 0);
        must(needs.at[i].milli <= NEEDS_MILLI_MAX);
        must(i == 0 || strcmp(needs.at[i - 1].name, needs.at[i].name) < 0);
        const char *shown = needs.at[i].shown;
        const char *spec = arena_fmt(arena, "r=%s", strcmp(shown, ".inf") == 0 ? "inf" : shown);
        back = (struct guild_needs){0};
        must(guild_needs_add(&back, str_of(spec), arena, &ignored, &e) == ERR_OK);
        must(back.count == 1);
        must(back.at[0].milli == needs.at[i].milli);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct str text = {(const char *)data, size};
    struct guild_words words;
    struct error e = {0};
    struct arena arena;
    arena_init(&arena);
    if (guild_words_split(text, &arena, &words, &e) == ERR_OK) {
        for (size_t i = 0; i < words.count; i++) {
            must(words.at[i].len <= size);
            must(words.at[i].p[words.at[i].len] == '\0');
        }
    }
    (void)guild_words_repr(&arena, text);
    needs_try(&arena, text);
    arena_done(&arena);
    return 0;
}
