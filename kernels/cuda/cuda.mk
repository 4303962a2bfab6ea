# SPDX-License-Identifier: Apache-2.0
#
# The CUDA backend: a shared library that the programs load at run time. The Makefile at the top includes this file.
#
# It is built if nvcc and cuDNN are installed; NVCC= disables it. If cuDNN is neither in the toolkit nor in the system,
# set CUDNN to the folder with its include and lib or lib64. The folder may be that of Python's package of cuDNN, which
# has libcudnn.so.9 but no libcudnn.so. The library has code for Hopper. For other devices since Ampere, the driver
# compiles it when a program first runs there.
CUDA_ARCH ?= -gencode arch=compute_80,code=compute_80 -gencode arch=compute_90,code=sm_90
NVCC     ?= $(firstword $(shell command -v nvcc) $(wildcard /usr/local/cuda/bin/nvcc))
CUDA     := $(if $(NVCC),$(abspath $(dir $(realpath $(NVCC)))/..))
CUDNN    ?=
CUDNN_H  := $(firstword $(wildcard $(addsuffix /cudnn.h,$(if $(CUDNN),$(abspath $(CUDNN))/include,\
              $(CUDA)/include /usr/local/include /usr/include /usr/include/$(shell uname -m)-linux-gnu))))
# cuDNN must be 9.8 or later: earlier versions do not describe devices.
CUDNN_H  := $(if $(CUDNN_H),$(if $(shell grep -ls CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR $(dir $(CUDNN_H))cudnn_graph*.h),$(CUDNN_H)))
CUDNN_SO := $(if $(CUDNN),$(firstword $(sort $(wildcard $(addsuffix /libcudnn.so*,$(addprefix $(abspath $(CUDNN)),/lib64 /lib))))))
ifneq ($(and $(CUDA),$(CUDNN)),)
$(if $(and $(CUDNN_H),$(CUDNN_SO)),,$(error CUDNN=$(CUDNN): include/cudnn.h of cuDNN 9.8 or later, and libcudnn.so in lib64 or lib, are required))
endif
LINK_CUDNN := $(if $(CUDNN_SO),-L$(dir $(CUDNN_SO)) -l:$(notdir $(CUDNN_SO)) -Xlinker -rpath=$(dir $(CUDNN_SO)),-lcudnn)

CUDA_LIB := $(if $(and $(CUDA),$(CUDNN_H)),$(BUILD)/lib/libmc-cuda.so)
CUDA_OBJ := $(patsubst %,$(BUILD)/%.o,$(basename $(wildcard kernels/cuda/*.c kernels/cuda/ops/*.c))) \
            $(patsubst %,$(BUILD)/%.cu.o,$(basename $(wildcard kernels/cuda/*.cu)))
# Objects of libmc.a that the library contains too.
CUDA_COMMON := $(patsubst %,$(BUILD)/%.o,libcommon/base/alloc libcommon/base/error libcommon/base/precision \
    libcommon/permutation/soft_permutation libcommon/graph/uses kernels/roles kernels/executor kernels/conv_table kernels/backend_facts)

all: $(CUDA_LIB) $(if $(CUDA),$(if $(CUDNN_H),,no-cudnn))

no-cudnn:
	@echo "  no CUDA backend: cuDNN 9.8 or later is missing (set CUDNN to the folder with its include and lib)"

# -fmad=false disables fused multiply-adds, so that each operation of a kernel is rounded as IEEE 754 says.
NVCCFLAGS ?= -O3 -lineinfo
CUDA_FLAGS := -std=c++17 $(CUDA_ARCH) -fmad=false -I. $(NVCCFLAGS) -Xptxas -v \
              -Werror all-warnings -Xcompiler -fPIC,-Wall,-Wextra,-Wshadow
CUDA_INCLUDES := -isystem $(CUDA)/include -isystem $(dir $(CUDNN_H))
$(BUILD)/kernels/cuda/%.o: ALL_CFLAGS += -DMC_BACKEND_INTERFACE=$(INTERFACE) $(CUDA_INCLUDES)
$(BUILD)/kernels/cuda/choice.o: $(BUILD)/kernels/cuda/plans.inc
$(BUILD)/kernels/cuda/choice.o: ALL_CFLAGS += -I$(@D)

$(BUILD)/cuda-flags: export FLAGS_NOW = $(CUDA_FLAGS)
$(BUILD)/cuda-flags: always
	$(RECORD_FLAGS)

# ptxas's report and the PTX for sm_90 are stored next to the object, because a test reads them.
$(BUILD)/kernels/cuda/%.cu.o: kernels/cuda/%.cu $(BUILD)/cuda-flags
	@mkdir -p $(@D)
	$(if $(V),,@echo "  NVCC  $<")
	@rm -rf $(@:.o=.keep) && mkdir $(@:.o=.keep)
	$(Q)$(NVCC) $(CUDA_FLAGS) --keep --keep-dir $(@:.o=.keep) -MMD -MP -MF $(@:.o=.d) -c $< -o $@ \
		2>$(@:.o=.ptxas) || { cat $(@:.o=.ptxas) >&2; exit 1; }
	@mv $(@:.o=.keep)/*90*.ptx $(@:.o=.ptx) 2>/dev/null || rm -f $(@:.o=.ptx)
	@rm -rf $(@:.o=.keep)

$(BUILD)/lib/libmc-cuda.so: $(CUDA_OBJ) $(CUDA_COMMON) kernels/cuda/exports.map
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(NVCC) $(CUDA_ARCH) -shared $(CUDA_OBJ) $(CUDA_COMMON) -o $@ -lcublas $(LINK_CUDNN) \
		-Xlinker --version-script=kernels/cuda/exports.map -Xlinker -rpath=$(CUDA)/lib64 \
		-Xlinker --no-undefined

.PHONY: no-cudnn
