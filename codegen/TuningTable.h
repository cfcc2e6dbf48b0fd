//===- TuningTable.h - decision trees for a library at run time -*- C++ -*-===//
//
// A library's decision trees can be replaced while a program runs: kiln_load_tuning reads a file,
// text in lines of words:
//
//   kiln table 1
//   library NAME HASH            the hash of kiln_library.dispatch_hash
//   entry NAME KEY ...           its dispatch key
//   target cuda:sm_90a           in the library's order
//   tree ID ...                  for calls whose best legal variant promises as much as these
//   KEY BOUND                    keys up to the bound go to the next line, larger ones behind its
//   tree : ID COST ID COST ...        a leaf: the lasting names of its variants, and what a wave
//   costs : ID COST ... end
//
// with entries, targets and trees as often as there are any. The 1 changes when any of that does.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_CODEGEN_TUNINGTABLE_H
#define KILN_CODEGEN_TUNINGTABLE_H

#include "codegen/LibraryModel.h"

namespace kiln {

/// Of what a table is looked up by: the names, arguments and dispatch keys of all entry points. 16
/// hexadecimal digits.
std::string dispatchHash(const LibraryModel &model);

/// What was measured of the model's variants, which need not be compiled. Empty: nothing was.
std::string writeTuningTable(const LibraryModel &model);

} // namespace kiln

#endif // KILN_CODEGEN_TUNINGTABLE_H
