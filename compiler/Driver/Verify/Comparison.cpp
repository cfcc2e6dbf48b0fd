#include "compiler/Driver/Verify/Comparison.h"
#include "compiler/Driver/Run/Elements.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace kiln {

const Tolerances &defaultTolerances() {
  // Some units of the last place, as what is summed may have been rounded to the type, too; for
  // fp32 units of tf32, of which tl.dot makes products.
  static const Tolerances tolerances = {
      {ElementType::FP64, 1e-9},     {ElementType::FP32, 2e-3},    {ElementType::FP16, 1e-2},
      {ElementType::BF16, 4e-2},     {ElementType::FP8E4NV, 0.15}, {ElementType::FP8E4B8, 0.15},
      {ElementType::FP8E4B15, 0.15}, {ElementType::FP8E5, 0.3},    {ElementType::FP8E5B16, 0.3}};
  return tolerances;
}

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// One view of the three texts.
class ViewedElements {
public:
  ViewedElements(llvm::StringRef before, llvm::StringRef wanted, llvm::StringRef got,
                 ElementView view)
      : before(before), wanted(wanted), got(got), view(view), size(elementBytes(view.element)) {}

  uint64_t end() const {
    return wanted.size() < view.phase ? view.phase
                                      : view.phase + (wanted.size() - view.phase) / size * size;
  }

  double number(llvm::StringRef bytes, uint64_t place) const {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + place, size);
    return numberOf(view.element, bits);
  }

  bool isEqual(llvm::StringRef one, llvm::StringRef other, uint64_t place) const {
    return std::memcmp(one.data() + place, other.data() + place, size) == 0;
  }

  /// Of what the recorded launch changed: how many, and the root of their mean square.
  std::pair<uint64_t, double> changes() const {
    uint64_t count = 0, finite = 0;
    double squares = 0;
    for (uint64_t place = view.phase; place < end(); place += size) {
      if (isEqual(before, wanted, place))
        continue;
      ++count;
      double value = number(wanted, place);
      finite += std::isfinite(value);
      squares += std::isfinite(value) ? value * value : 0;
    }
    return {count, finite ? std::sqrt(squares / double(finite)) : 0};
  }

  double distance(uint64_t place, double rms) const {
    if (isEqual(wanted, got, place))
      return 0;
    double expected = number(wanted, place), value = number(got, place);
    // Integers beyond 53 bits are equal as numbers and are not.
    if (expected == value)
      return elementClass(view.element) == ElementClass::Float ? 0
                                                               : std::numeric_limits<double>::min();
    if (std::isnan(expected) && std::isnan(value))
      return 0;
    if (!std::isfinite(expected) || !std::isfinite(value))
      return infinity;
    double scale = std::abs(expected) + rms;
    return scale > 0 ? std::abs(value - expected) / scale : infinity;
  }

  llvm::StringRef before, wanted, got;
  ElementView view;
  unsigned size;
};

/// What does not agree in any view so far, one flag for each byte.
class Disagreement {
public:
  Disagreement(llvm::StringRef wanted, llvm::StringRef got) : differs(wanted.size()) {
    for (size_t i = 0; i < differs.size(); ++i)
      differs[i] = wanted[i] != got[i];
  }

  bool at(const ViewedElements &elements, uint64_t place) const {
    return std::any_of(differs.begin() + place, differs.begin() + place + elements.size,
                       [](char differs) { return differs != 0; });
  }
  void settle(const ViewedElements &elements, uint64_t place) {
    std::fill_n(differs.begin() + place, elements.size, 0);
  }

  /// Bytes that are left, and the first of them.
  std::pair<uint64_t, uint64_t> left() const {
    auto first = std::find(differs.begin(), differs.end(), 1);
    return {std::count(first, differs.end(), 1), first - differs.begin()};
  }

private:
  std::vector<char> differs;
};

/// What agrees in no view, as elements of the first.
void tellWhatIsLeft(const ViewedElements &elements, Disagreement &open, Comparison &result) {
  llvm::StringRef got = elements.got, wanted = elements.wanted;
  result.rms = elements.changes().second;
  double worst = -1;
  for (uint64_t place = elements.view.phase; place < elements.end(); place += elements.size) {
    if (!open.at(elements, place))
      continue;
    ++result.differing;
    open.settle(elements, place);
    double distance = elements.distance(place, result.rms);
    if (distance <= worst)
      continue;
    worst = distance;
    result.worst = std::max(result.worst, distance);
    result.place = place;
    result.got = elements.number(got, place);
    result.wanted = elements.number(wanted, place);
  }
  if (auto [count, first] = open.left(); count && !result.differing) {
    // Bytes that are no whole element.
    result.differing = count;
    result.place = first;
    result.view = ElementView();
    result.got = uint8_t(got[first]);
    result.wanted = uint8_t(wanted[first]);
    result.worst = infinity;
  }
}

/// Integers are exact where no tolerance is given: their distance is all or nothing then.
double allowed(const Tolerances &tolerances, ElementType element) {
  auto found = tolerances.find(element);
  return found == tolerances.end() ? 0 : found->second;
}

} // namespace

Comparison compareStorage(llvm::StringRef before, llvm::StringRef wanted, llvm::StringRef got,
                          llvm::ArrayRef<ElementView> views, const Tolerances &tolerances) {
  std::vector<ElementView> all = views.empty() ? std::vector<ElementView>(1) : views.vec();
  Comparison result;
  result.view = all.front();
  Disagreement open(wanted, got);
  for (ElementView view : all) {
    ViewedElements elements(before, wanted, got, view);
    auto [changed, rms] = elements.changes();
    result.changed = std::max(result.changed, changed);
    for (uint64_t place = view.phase; place < elements.end(); place += elements.size) {
      if (!open.at(elements, place))
        continue;
      double distance = elements.distance(place, rms);
      if (distance > allowed(tolerances, view.element))
        continue;
      result.worst = std::max(result.worst, distance);
      open.settle(elements, place);
    }
  }
  tellWhatIsLeft(ViewedElements(before, wanted, got, all.front()), open, result);
  return result;
}

} // namespace kiln
