//===- OutputSet.cpp - the files of one command, in any folders -----------===//
#include "codegen/OutputSet.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace kiln {

Error OutputSet::open(StringRef path) {
  std::string folder = sys::path::parent_path(path).str();
  if (transactions.count(folder))
    return Error::success();
  Expected<OutputTransaction> transaction = OutputTransaction::begin(folder);
  if (!transaction)
    return transaction.takeError();
  transactions.emplace(folder, std::move(*transaction));
  return Error::success();
}

Error OutputSet::add(StringRef path, std::string bytes) {
  auto transaction = transactions.find(sys::path::parent_path(path).str());
  assert(transaction != transactions.end() && "the path was not opened");
  return transaction->second.add({sys::path::filename(path).str(), std::move(bytes)});
}

Error OutputSet::commit() {
  for (auto &[folder, transaction] : transactions)
    if (Error error = transaction.commit())
      return error;
  return Error::success();
}

Error writeOutput(StringRef path, std::string bytes) {
  OutputSet files;
  if (Error error = files.open(path))
    return error;
  if (Error error = files.add(path, std::move(bytes)))
    return error;
  return files.commit();
}

} // namespace kiln
