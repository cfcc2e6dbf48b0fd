// Entry points that choose among variants in every way that there is, of random conditions, grids
// and measurements: the same ones in each run.
#ifndef KILN_TESTS_CODEGEN_RANDOMCHOICES_H
#define KILN_TESTS_CODEGEN_RANDOMCHOICES_H

#include "codegen/LibraryModel.h"

namespace kiln::test {

/// choice_0, choice_1 … of (a: *kfp16, b: *fp16, M: i32, N: i64, K: i32), each for cuda:sm_90a and,
/// of some variants, cuda:sm_80 alone.
LibraryModel randomChoices();

} // namespace kiln::test

#endif // KILN_TESTS_CODEGEN_RANDOMCHOICES_H
