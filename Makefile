# SPDX-License-Identifier: Apache-2.0
#
# make            build everything into build/
# make demo       install what is missing, build, run the main job on synthetic data, draw the picture
# make check      every test
# make help       the other goals

BUILD   ?= build
PREFIX  ?= /usr/local
CC      ?= gcc
VERSION := 0.1.0

WARN    := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Werror
CFLAGS  ?= -O2 -g
ALL_CFLAGS := -std=c11 -D_GNU_SOURCE -DMC_VERSION='"$(VERSION)"' $(WARN) -fopenmp -fPIC \
              -Ilibcommon -Iformats -Ikernels $(CFLAGS) $(EXTRA_CFLAGS)
LIBS    := -ldnnl -lmsgpackc -lzstd -lxxhash -lm

LIB_SRC  := $(wildcard libcommon/*.c formats/*.c kernels/*.c kernels/cpu/*.c)
LIB_OBJ  := $(LIB_SRC:%.c=$(BUILD)/%.o)
LIB      := $(BUILD)/libmc.a
TOOLS    := $(patsubst tools/%.c,$(BUILD)/bin/%,$(wildcard tools/mc-*.c))
UNITS    := $(patsubst tests/unit/%.c,$(BUILD)/tests/unit/%,$(wildcard tests/unit/test_*.c))

all: $(TOOLS)

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

$(LIB): $(LIB_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/bin/mc-%: $(BUILD)/tools/mc-%.o $(LIB)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $^ $(LDFLAGS) $(LIBS) -o $@

$(BUILD)/tests/unit/%: $(BUILD)/tests/unit/%.o $(LIB)
	$(CC) $(ALL_CFLAGS) $^ $(LDFLAGS) -lcmocka $(LIBS) -o $@

# keep objects of the pattern chains, so that a second make does nothing
.SECONDARY:
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

.PHONY: all
