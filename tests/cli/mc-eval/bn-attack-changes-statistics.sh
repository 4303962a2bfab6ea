# SPDX-License-Identifier: Apache-2.0
# mc-eval --bn-attack estimates different statistics, on attacked images; a wrong attack is refused.
fixture attacked
e="mc-eval -q --data d.mcz --data held=test.mcz --bn-data d.mcz --points 3 --batch 64 -t 1"

$e line.mcz | cut -f 2-5 >clean
$e --attack $attack --bn-attack line.mcz | cut -f 2-5 >bn
! cmp -s bn clean || die '--bn-attack changes nothing'
fails 2 "unknown attack 'fgsm'" $e --attack fgsm line.mcz
fails 2 "'eps'" $e --attack pgd:eps line.mcz
fails 2 'target 10*not a class' $e --attack pgd:target=10 line.mcz
fails 2 '--bn-attack*no effect*without --attack' $e --bn-attack line.mcz
fails 2 '--bn-attack*no effect*without --bn-data' mc-eval --data test.mcz --attack pgd --bn-attack n1.mcz
