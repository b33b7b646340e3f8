# The front door; the build proper is meson's. `make run` and `make test` each work alone on a fresh Debian 12.
BUILD ?= build
TEST = tools/test

all: weir

deps:
	@tools/deps test

deps-build:
	@tools/deps build

$(BUILD)/build.ninja: | deps-build
	@meson setup $(BUILD) -Dtests=false >/dev/null

# The program, at ./weir.
weir: $(BUILD)/build.ninja
	@ninja --quiet -C $(BUILD) src/weir
	@ln -sf $(BUILD)/src/weir weir

# The manual pages, from the command table of the program: build/docs/man.
man: weir
	@ninja --quiet -C $(BUILD) man
	@echo "$(BUILD)/docs/man: $$(ls $(BUILD)/docs/man | grep -c '\.1$$') pages"

# The program and its manual pages; DESTDIR=… puts them below another root, `meson configure build --prefix=…` chooses the prefix.
install: weir
	@meson install -C $(BUILD) --no-rebuild $(if $(DESTDIR),--destdir $(abspath $(DESTDIR)))

# A served Weir on this machine; Ctrl-C ends it and keeps the tasks.
run: weir
	./weir up $(ARGS)

# Everything: every suite, both compilers, sanitizers.  `make test SUITES="unit cli"` runs some.
test: deps
	@$(TEST) $(SUITES)

# What takes longer than `make test` allows: 10,000 changed bytes that matter in one process, 1,000 with the real programs; 20 rotations of
# certificates under 200 tasks; 200 elastic cycles with a flaky provider; the server killed at every step of every provider; the time limits of Slurm's jobs.
test-long: deps weir
	@meson configure $(BUILD) -Dtests=true && ninja --quiet -C $(BUILD) tests/unit/store/test_flips
	WEIR_FLIPS=700 $(BUILD)/tests/unit/store/test_flips
	WEIR_FLIPS=100 WEIR_BIN=$(CURDIR)/weir .venv/bin/python -m pytest -q -p no:cacheprovider tests/attack/test_flipped_bytes.py
	WEIR_LONG=1 WEIR_BIN=$(CURDIR)/weir .venv/bin/python -m pytest -q -p no:cacheprovider tests/attack/test_rotation.py
	WEIR_LONG=1 WEIR_BIN=$(CURDIR)/weir .venv/bin/python -m pytest -q -p no:cacheprovider tests/e2e/test_notebook.py
	WEIR_LONG=1 WEIR_BIN=$(CURDIR)/weir .venv/bin/python -m pytest -q -p no:cacheprovider tests/clients
	WEIR_LONG=1 WEIR_TEST_DEADLINE=150 WEIR_BIN=$(CURDIR)/weir .venv/bin/python -m pytest -q -p no:cacheprovider tests/e2e/test_exec_provider.py tests/e2e/test_provider_crash.py tests/e2e/test_slurm_provider.py

# The developer's two minutes.
check: deps
	@$(TEST) --check

tidy: deps
	@$(TEST) tidy

# Figures beside their physical limits and peers, in one run on one machine.
bench: weir
	@tools/deps bench
	@meson configure $(BUILD) -Dbench=true && ninja --quiet -C $(BUILD)
	@bench/run $(ARGS)

# Instructions of the server for each task, beside other builds: ARGS="OTHER/weir ./weir". Needs valgrind.
bench-instructions: weir
	@bench/instructions.py $(ARGS)

# What TLS costs a node that does nothing: six minutes.
bench-tls-idle: weir
	@meson configure $(BUILD) -Dbench=true && ninja --quiet -C $(BUILD)
	@bench/run tls-idle $(ARGS)

# The scheduler alone, in one process: how long its decisions take on clusters of up to 10,000 nodes.
bench-sched: $(BUILD)/build.ninja
	@meson configure $(BUILD) -Dbench=true && ninja --quiet -C $(BUILD) bench/sched/sched_bench
	@$(BUILD)/bench/sched/sched_bench $(ARGS)

# The quality of decisions on real traces, beside reference policies; the traces are no part of the repository.
# ARGS="--short waits pools": default settings on one trace, half a minute.
TRACES ?= $(WEIR_SHARED)/traces
bench-sim: weir
	@meson configure $(BUILD) -Dbench=true && ninja --quiet -C $(BUILD)
	@bench/sim $(TRACES) $(ARGS)

# Accounting over a year of TASKS tasks, in the new directory DIR: ten million take 8 GB and about ten minutes. TASKS=0 asks a directory again.
bench-usage: $(BUILD)/build.ninja
	@meson configure $(BUILD) -Dbench=true && ninja --quiet -C $(BUILD) bench/usage_bench
	@$(BUILD)/bench/usage_bench $(or $(DIR),$(error DIR=NEW names a new directory)) $(TASKS)

# What a scheduler costs a run of Guild AI, beside Guild's own Dask scheduler. Needs PyPI.
bench-guild: weir
	@bench/guild_bench.py $(ARGS)

# The laws of the design (P1 to P9) after every step of runs on the same traces; ROWS=0 looks at the whole state each time, which takes long.
check-traces: deps weir
	@meson configure $(BUILD) -Dtests=true && ninja --quiet -C $(BUILD) tests/sim/sim_laws
	@bench/sim $(TRACES) laws

# Every property program with fresh seeds, on all cores, SOAK_S seconds. Histories that break a law are written to build-results/soak.
SOAK_S ?= 600
soak: deps
	@tools/soak $(SOAK_S) $(ARGS)

# How strong the tests are: N faults planted in src/core, one at a time, at places drawn with SEED (a fresh one); how many the tests find.
N ?= 100
mutate: deps
	@tools/mutate -n $(N) $(if $(SEED),-s $(SEED)) $(ARGS)

# Fuzz every parser for FUZZ_S seconds each.
FUZZ_S ?= 60
fuzz: deps
	@tools/fuzz $(FUZZ_S)

# The sanitizer builds and their tests.
asan tsan: deps
	@$(TEST) $@

# clang-tidy over what differs from HEAD (or FILES=…), for developers.
lint: weir
	clang-tidy-14 -p $(BUILD) $(or $(FILES),$(shell git diff --name-only HEAD -- 'src/*.c'))

fmt:
	git ls-files '*.c' '*.h' | xargs clang-format-14 -i

hooks:
	ln -sf ../../tools/pre-commit .git/hooks/pre-commit

clean:
	rm -rf build build-* weir

.PHONY: all deps deps-build weir man install run test test-long check tidy asan tsan lint bench bench-tls-idle bench-instructions bench-sched bench-sim bench-usage bench-guild check-traces soak mutate fuzz fmt hooks clean
