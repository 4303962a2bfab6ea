# SPDX-License-Identifier: Apache-2.0
#
# OUT/settings has the settings that makes in OUT were given, one line NAME=VALUE each. A make uses them as
# defaults, and after them those of FROM/settings. An experiment that has settings includes this file before
# them.
OUT ?= out#                   folder of the results
here  := $(patsubst %include/remembered.mk,%,$(lastword $(MAKEFILE_LIST)))
space := $() $()
hash  := \#
define newline


endef
given := $(foreach v,$(.VARIABLES),$(if $(filter command environment,$(firstword $(origin $(v)))),$(v)))
lines-in = $(filter-out $(hash)%,$(subst $(newline), ,\
    $(subst $(space),␣,$(file <$(1:~/%=$(HOME)/%)/settings))))
# PAIRS and SEEDS exclude each other: machinery.mk or means.mk uses one of them
name-in  = $(firstword $(subst =, ,$(1)))
name-of  = $(addprefix $(if $(filter PAIRS SEEDS,$(name-in)),remembered-),$(name-in))
value-of = $(subst ␣,$(space),$(subst ^$(name-in)=,,^$(1)))
escaped  = $(subst $(hash),\$(hash),$(subst $$,$$$$,$(1)))
load     = $(if $(filter undefined,$(origin $(1))), \
               $(eval $(1) = $(call escaped,$(2)))$(eval loaded += $(1)), \
               $(if $(filter file,$(origin $(1))),$(if $(filter $(1),$(loaded)),,$(call late,$(1)))))
late     = $(error $(firstword $(MAKEFILE_LIST)): include $(here)include/remembered.mk before $(1))
load-all = $(foreach l,$(call lines-in,$(1)),$(call load,$(call name-of,$(l)),$(call value-of,$(l))))
loaded  :=
$(call load-all,$(OUT))$(if $(FROM),$(call load-all,$(FROM)))
# an experiment may add to these before machinery.mk stores them
as-given := TRAIN_FLAGS CURVE_FLAGS EVAL_FLAGS
$(foreach n,$(as-given),$(eval given-$(n) := $$($(n))))
# The settings of the alignment that FROM does not have: then its permutations are not copied. Without
# settings, the histories in FROM show some of them.
from-lines := $(if $(FROM),$(foreach l,$(call lines-in,$(FROM)),<$(l)>))
encoded = <$(n)=$(subst $(space),␣,$($(n)))>
alignment := ACTS MEASURE ALIGN HUNGARIAN_FLAGS $(if $(from-lines),ALIGN_IMAGES ACTS_FLAGS CORR_FLAGS)
export OWN_ALIGNMENT := $(strip $(if $(FROM),$(foreach n,$(filter $(given) $(loaded),$(alignment)), \
    $(if $(findstring $(encoded),$(from-lines)),,$(n)))))
