#include "compiler/Sema/Tensors/ElementPacks.h"

namespace kiln::sema {
namespace {

Tensor callLanguage(TensorBuilder &build, llvm::StringRef name, std::vector<Value> args,
                    unsigned result = 0) {
  Value value = build.callBuiltin(Library::Language, name, std::move(args));
  if (build.failed())
    return {};
  return (value.is(ValueKind::Tuple) ? value.getElements()[result] : value).getTensor();
}

/// The elements at each place, from [n, pack].
bool spread(TensorBuilder &build, Tensor tensor, unsigned pack, std::vector<Tensor> &parts) {
  int64_t rows = tensor.type.shape[0];
  if (pack == 1) {
    parts.push_back(build.reshape(tensor, {rows}, false));
    return bool(parts.back());
  }
  // The first half of the pack, then the second.
  Tensor pairs =
      build.permute(build.reshape(tensor, {rows, 2, int64_t(pack / 2)}, false), {0, 2, 1});
  for (unsigned half : {0u, 1u}) {
    Tensor part = callLanguage(build, "split", {Value::tensor(pairs)}, half);
    if (!part || !spread(build, part, pack / 2, parts))
      return false;
  }
  return true;
}

/// The reverse: [n, parts].
Tensor gather(TensorBuilder &build, llvm::ArrayRef<Tensor> parts) {
  int64_t rows = parts.front().type.shape[0];
  if (parts.size() == 1)
    return build.reshape(parts.front(), {rows, 1}, false);
  size_t middle = parts.size() / 2;
  Tensor first = gather(build, parts.take_front(middle));
  Tensor second = first ? gather(build, parts.drop_front(middle)) : first;
  if (!second)
    return {};
  Tensor joined = callLanguage(build, "join", {Value::tensor(first), Value::tensor(second)});
  if (!joined)
    return {};
  return build.reshape(build.permute(joined, {0, 2, 1}), {rows, int64_t(parts.size())}, false);
}

} // namespace

std::optional<Packing> arrangePacks(TensorBuilder &build, const Value &pack,
                                    std::vector<Tensor> &tensors) {
  Packing packing;
  std::optional<Int> given = build.constantInt(pack, "pack");
  if (!given)
    return std::nullopt;
  for (int round = 0; round < 2; ++round)
    for (size_t i = 1; i < tensors.size(); ++i)
      if (!build.broadcastTogether(tensors[0], tensors[i]))
        return std::nullopt;
  if (!tensors.empty())
    packing.shape = tensors[0].type.shape;
  int64_t elements = 1;
  for (int64_t extent : packing.shape)
    elements *= extent;
  if (*given < 1 || *given > 64 || (*given & (*given - 1)) || elements % int64_t(*given))
    return build.fail(DiagKind::SemaInvalidArgument, "pack",
                      "a power of two that divides the " + std::to_string(elements) + " elements",
                      toString(*given));
  packing.pack = unsigned(*given);
  packing.partShape = packing.shape;
  if (packing.pack > 1)
    packing.partShape = {elements / int64_t(packing.pack)};
  return packing;
}

bool dealOut(TensorBuilder &build, const Packing &packing, Tensor tensor,
             std::vector<Tensor> &parts) {
  if (packing.pack == 1) {
    parts.push_back(tensor);
    return true;
  }
  Tensor rows = build.reshape(tensor, {packing.partShape[0], int64_t(packing.pack)}, false);
  return rows && spread(build, rows, packing.pack, parts);
}

Tensor putTogether(TensorBuilder &build, const Packing &packing, llvm::ArrayRef<Tensor> parts) {
  if (packing.pack == 1)
    return parts.front();
  Tensor whole = gather(build, parts);
  return whole ? build.reshape(whole, packing.shape, false) : whole;
}

} // namespace kiln::sema
