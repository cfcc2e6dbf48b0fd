#include "compiler/Sema/Tensors/ElementPacks.h"

namespace kiln::sema {
namespace {

Tensor callLanguage(Evaluator &evaluator, llvm::StringRef name, std::vector<Value> args,
                    unsigned result = 0) {
  Value value =
      evaluator.call(Value::builtin(*findBuiltin(Library::Language, name)), std::move(args), {});
  if (evaluator.failed())
    return {};
  return (value.is(ValueKind::Tuple) ? value.getElements()[result] : value).getTensor();
}

/// The elements at each place, from [n, pack].
bool spread(Evaluator &evaluator, Tensor tensor, unsigned pack, std::vector<Tensor> &parts) {
  int64_t rows = tensor.type.shape[0];
  if (pack == 1) {
    parts.push_back(evaluator.reshape(tensor, {rows}, false));
    return bool(parts.back());
  }
  // The first half of the pack, then the second.
  Tensor pairs =
      evaluator.permute(evaluator.reshape(tensor, {rows, 2, int64_t(pack / 2)}, false), {0, 2, 1});
  for (unsigned half : {0u, 1u}) {
    Tensor part = callLanguage(evaluator, "split", {Value::tensor(pairs)}, half);
    if (!part || !spread(evaluator, part, pack / 2, parts))
      return false;
  }
  return true;
}

/// The reverse: [n, parts].
Tensor gather(Evaluator &evaluator, llvm::ArrayRef<Tensor> parts) {
  int64_t rows = parts.front().type.shape[0];
  if (parts.size() == 1)
    return evaluator.reshape(parts.front(), {rows, 1}, false);
  size_t middle = parts.size() / 2;
  Tensor first = gather(evaluator, parts.take_front(middle));
  Tensor second = first ? gather(evaluator, parts.drop_front(middle)) : first;
  if (!second)
    return {};
  Tensor joined = callLanguage(evaluator, "join", {Value::tensor(first), Value::tensor(second)});
  if (!joined)
    return {};
  return evaluator.reshape(evaluator.permute(joined, {0, 2, 1}), {rows, int64_t(parts.size())},
                           false);
}

} // namespace

std::optional<Packing> arrangePacks(Evaluator &evaluator, const Value &pack,
                                    std::vector<Tensor> &tensors) {
  Packing packing;
  std::optional<Int> given = evaluator.constantInt(pack, "pack");
  if (!given)
    return std::nullopt;
  for (int round = 0; round < 2; ++round)
    for (size_t i = 1; i < tensors.size(); ++i)
      if (!evaluator.broadcastTogether(tensors[0], tensors[i]))
        return std::nullopt;
  if (!tensors.empty())
    packing.shape = tensors[0].type.shape;
  int64_t elements = 1;
  for (int64_t extent : packing.shape)
    elements *= extent;
  if (*given < 1 || *given > 64 || (*given & (*given - 1)) || elements % int64_t(*given))
    return evaluator.fail(DiagKind::SemaInvalidArgument, "pack",
                          "a power of two that divides the " + std::to_string(elements) +
                              " elements",
                          toString(*given));
  packing.pack = unsigned(*given);
  packing.partShape = packing.shape;
  if (packing.pack > 1)
    packing.partShape = {elements / int64_t(packing.pack)};
  return packing;
}

bool dealOut(Evaluator &evaluator, const Packing &packing, Tensor tensor,
             std::vector<Tensor> &parts) {
  if (packing.pack == 1) {
    parts.push_back(tensor);
    return true;
  }
  Tensor rows = evaluator.reshape(tensor, {packing.partShape[0], int64_t(packing.pack)}, false);
  return rows && spread(evaluator, rows, packing.pack, parts);
}

Tensor putTogether(Evaluator &evaluator, const Packing &packing, llvm::ArrayRef<Tensor> parts) {
  if (packing.pack == 1)
    return parts.front();
  Tensor whole = gather(evaluator, parts);
  return whole ? evaluator.reshape(whole, packing.shape, false) : whole;
}

} // namespace kiln::sema
