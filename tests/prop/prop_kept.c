/* prop_kept.c - plays recorded histories and organisations (tape.h, prop_sharing.c) that broke a law once: the inputs as they were, and
 * every law.
 *
 *   prop_kept FILE …     plays each; a broken law ends the program
 *   prop_kept DIR        plays each DIR/NAME.txt in a process of its own. DIR/expected-to-fail lists the names that break a law today.
 *                        Fails when another one breaks a law, and when one of these does not
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "law.h"
#include "prop_run.h"
#include "tape.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_ROOM = 4096, NAME_ROOM = 256 };

/* Organisations (prop_sharing.c) have no world: the program beside this one runs them. */
static void organisation_play(const char *path)
{
    char program[PATH_ROOM];
    const ssize_t len = readlink("/proc/self/exe", program, sizeof program - sizeof "sharing");
    law(len > 0, "this program has a path");
    program[len] = '\0';
    char *name = strrchr(program, '/') + 1;
    (void)memcpy(name, "prop_sharing", sizeof "prop_sharing");
    (void)execl(program, program, "--play", path, (char *)NULL);
    law(false, "prop_sharing is beside this program");
}

static bool is_organisation(const char *path)
{
    char word[sizeof "organisation"] = "";
    FILE *file = fopen(path, "r");
    const bool read = file != NULL && fgets(word, sizeof word, file) != NULL;
    if (file != NULL) {
        (void)fclose(file);
    }
    return read && strcmp(word, "organisation") == 0;
}

static int play(const char *path)
{
    if (is_organisation(path)) {
        organisation_play(path);
    }
    const struct tape_played played = tape_play(path);
    printf("%s: %" PRIu64 " lines, %" PRIu64 " left out: all laws held\n", path, played.lines,
           played.left_out);
    (void)fflush(stdout);
    return 0;
}

/* True when a law is broken, or the program ends in another way. */
static bool breaks(const char *path)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        _exit(play(path));
    }
    return child < 0 || waitpid(child, &status, 0) != child || status != 0;
}

/* Is the name among the lines of DIR/expected-to-fail? */
static bool expected(const char *directory, const char *name)
{
    char path[PATH_ROOM];
    char line[NAME_ROOM];
    bool found = false;
    (void)snprintf(path, sizeof path, "%s/expected-to-fail", directory);
    FILE *file = fopen(path, "r");
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, " \n")] = '\0';
        found = strcmp(line, name) == 0;
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return found;
}

static int is_text(const struct dirent *entry)
{
    const size_t len = strlen(entry->d_name);
    return len > 4 && strcmp(entry->d_name + len - 4, ".txt") == 0;
}

static int directory_play(const char *directory)
{
    struct dirent **entries = NULL;
    const int count = scandir(directory, &entries, is_text, alphasort);
    int surprises = count <= 0;
    for (int i = 0; i < count; i++) {
        char path[PATH_ROOM];
        char *name = entries[i]->d_name;
        (void)snprintf(path, sizeof path, "%s/%s", directory, name);
        name[strlen(name) - 4] = '\0';
        const bool broken = breaks(path);
        const bool listed = expected(directory, name);
        if (broken != listed) {
            surprises++;
            printf("%s: %s\n", name,
                   broken ? "BREAKS A LAW"
                          : "holds all laws now: take it off the list expected-to-fail");
        } else if (broken) {
            printf("%s: breaks a law, as expected\n", name);
        }
        (void)fflush(stdout);
        free(entries[i]);
    }
    free(entries);
    printf("%d recorded histories, %d surprises\n", count, surprises);
    return surprises != 0;
}

int main(int argc, char **argv)
{
    struct stat found;
    prop_watch();
    if (argc == 2 && stat(argv[1], &found) == 0 && S_ISDIR(found.st_mode)) {
        return directory_play(argv[1]);
    }
    for (int i = 1; i < argc; i++) {
        (void)play(argv[i]);
    }
    return argc < 2 ? 2 : 0;
}
