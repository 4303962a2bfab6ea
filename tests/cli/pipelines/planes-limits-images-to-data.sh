# SPDX-License-Identifier: Apache-2.0
# planes.mk requests at most as many images as the data have; make -n without files succeeds.
printf '#!/bin/bash\necho "$*" >>recorded\nexec "$@"\n' >record
chmod +x record
asked() {
    rm -rf out recorded
    graph planes GRID=2 NET=mlp:bn,4 EPOCHS=1 CURVE_LR=.3 RUN=./record "$@"
    grep -oE -- '--(test|bn)-samples [0-9]+' recorded | sort -u | paste -sd ' '
}
expect_equal "$(asked)" '--bn-samples 512 --test-samples 100'
expect_equal "$(asked TEST_IMAGES=9000 TRAIN_IMAGES=)" '--bn-samples 2000 --test-samples 2500'
expect_equal "$(asked TEST_IMAGES=)" '--bn-samples 512 --test-samples 2000'
expect_equal "$(asked PLANE_IMAGES= PLANE_BN_IMAGES=300)" '--bn-samples 300'
graph planes -n OUT=none
expect_equal "$(cat errors)" ""
! (graph planes GIRD=3) >refused || die 'a misspelled setting passes'
grep -q "'GIRD' is not a setting" errors
