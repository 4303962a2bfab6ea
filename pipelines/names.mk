# SPDX-License-Identifier: Apache-2.0
#
# How the graphs take names: common.mk and paper.mk include it, after `here`, the folder of the graphs, and `path-names`, which
# settings are paths.

# of recipes and of $(shell), which make 4.3 hands no exported variable; with make -e too
override SHELL := /usr/bin/env
# not a file that MAKEFILES has make read first
graph := $(firstword $(filter-out $(MAKEFILES),$(MAKEFILE_LIST)))

empty :=
blank := $(empty) $(empty)
environment := $(subst $(blank),|,$(file <$(here)include/environment.sh))
.SHELLFLAGS := $(patsubst %,-u %,$(filter-out unset,$(subst |, ,$(filter unset|%,$(environment))))) \
    $(patsubst export|%,%,$(filter export|%,$(environment))) /bin/sh -c

comma := ,
define newline


endef
quote  = '$(subst ','\'',$(1))'
# what make or the shell would take for more than a name
steers = $(shell case $(call quote,$(1)) in (-*|*[[:cntrl:]]*|*[[:space:]:%,\'\"\`\\\$$\;\&\|\(\)\<\>\*\?\[\]\{\}\!\~\#=]*) echo it ;; esac)
digits = $(subst 0,,$(subst 1,,$(subst 2,,$(subst 3,,$(subst 4,,$(subst 5,,$(subst 6,,$(subst 7,,$(subst \
             8,,$(subst 9,,$(1)))))))))))

# those of the settings named that were given
asked  = $(foreach name,$(1),$(if $(filter command environment,$(firstword $(origin $(name)))),$(name)))

# A path that was given is that one, letter by letter: make would take $(...) in it for a variable. Only a ~/ that it begins
# with, which some shells leave in NAME=~/x, is the home folder.
home   = $(if $(findstring $(newline),$(1)),$(1),$(subst $(newline),,$(subst $(newline)~/,$(HOME)/,$(newline)$(1))))
$(foreach name,$(call asked,$(path-names)),$(eval override $(name) := $$(call home,$$(value $(name)))))
$(if $(call steers,$(here)),$(error $(here): name $(notdir $(graph)) by another path: this one holds what steers a shell))

# what goes to the programs as it stands
$(foreach name,$(call asked,DEVICE PRECISION SCHEDULE CURVE_SCHEDULE), \
    $(if $(shell case $(call quote,$($(name))) in ('' | *[!A-Za-z0-9:.,_+-]*) echo it ;; esac), \
    $(error $(name)="$($(name))": a word of letters, digits, colons and points is wanted)))
$(foreach name,$(call asked,THREADS),$(if $(or $(filter-out 1,$(words $(THREADS))),$(call digits,$(THREADS))), \
    $(error THREADS="$(THREADS)": a whole number is wanted)))
$(if $(filter-out -q -v --quiet --verbose,$(MESSAGES)),$(error MESSAGES="$(MESSAGES)": -q or -v is wanted))
# OUT=/ by any of its names
$(if $(filter-out /,$(or $(realpath $(OUT)),$(abspath $(OUT)))),,$(error OUT="$(OUT)": a folder's name is wanted))

# the settings on the command line, and make -n
given := $(foreach word,$(subst \$(blank),,$(MAKEOVERRIDES)),$(if $(findstring =,$(word)),$(firstword $(subst =, ,$(word)))))
dry-run := $(findstring n,$(filter-out --%,$(firstword -$(MAKEFLAGS))))
# a path that is there
on-disk = $(shell [ ! -e $(call quote,$(1)) ] || echo it)
