# SPDX-License-Identifier: Apache-2.0
# planes.mk asks for no more images than there are; what is not made yet is no error of make -n.
asked() {
    graph planes -n OUT=none "$@"
    grep -oE -- '--(test|bn)-samples [0-9]+' log | sort -u | paste -sd ' '
}
is "$(asked)" '--bn-samples 512 --test-samples 100'
is "$(asked TEST_IMAGES=9000 TRAIN_IMAGES=)" '--bn-samples 2000 --test-samples 2500'
is "$(asked TEST_IMAGES=)" '--bn-samples 512 --test-samples 2000'
mkdir -p x/train x/test
is "$(asked DATA=folder DATA_DIR=x TEST_IMAGES=)" '--bn-samples 512'
is "$(cat told)" ""
! (graph planes GIRD=3) >refused || die 'a misspelt setting went unheard'
grep -q "no setting 'GIRD'" told
