# The front door. `make run` and `make test` alone work on a fresh Debian 12; see README.md.
BUILD ?= build
all: weir

$(BUILD)/build.ninja:
	meson setup $(BUILD) >/dev/null

weir: $(BUILD)/build.ninja
	ninja -C $(BUILD)
	ln -sf $(BUILD)/src/weir weir

fmt:
	git ls-files '*.c' '*.h' | xargs -r clang-format-14 -i

.PHONY: all weir fmt
