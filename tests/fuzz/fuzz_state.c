/* fuzz_state.c - exported states of servers, as the simulator reads them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/must.h"
#include "sim/state_file.h"
#include "sound.h"

enum { RUNS_MS = 3600 * 1000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct scenario scenario;
    struct error e = {0};
    sound_init(&scenario);
    if (state_file_read((struct str){(const char *)data, size}, "s", RUNS_MS, &scenario, &e) ==
        ERR_OK) {
        sound_check(&scenario);
    } else {
        must(e.text[0] != '\0');
    }
    scenario_done(&scenario);
    return 0;
}
