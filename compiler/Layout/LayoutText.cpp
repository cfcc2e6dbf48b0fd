//===- LayoutText.cpp - the textual form of layouts -----------------------===//
//
//   layout  ::= input (';' input)* '->' outputs
//   input   ::= name ':' basis*          e.g.  register: 0,1 8,0
//   basis   ::= number (',' number)*     one coordinate per output
//   outputs ::= 'scalar' | sizes | (name ':' size)+      sizes ::= N ('x' N)*
//
//===----------------------------------------------------------------------===//

#include "compiler/Layout/LinearLayout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace kiln {

static void printOutputs(raw_ostream &os, const LayoutSpace &out) {
  if (out.entries().empty()) {
    os << "scalar";
    return;
  }
  bool onlyAxes = out.rank() == out.entries().size();
  interleave(
      out.entriesForText(), os,
      [&](const LayoutSpace::Entry &entry) {
        if (!onlyAxes)
          os << entry.dim.name() << ':';
        os << (int64_t(1) << entry.bits);
      },
      onlyAxes ? "x" : " ");
}

std::string LinearLayout::str() const {
  std::string text;
  raw_string_ostream os(text);
  SmallVector<LayoutSpace::Entry, 4> outs = outSpace.entriesForText();
  interleave(
      inSpace.entriesForText(), os,
      [&](const LayoutSpace::Entry &entry) {
        os << entry.dim.name() << ':';
        for (BinaryVector column : columns(entry.dim)) {
          os << ' ';
          interleave(
              outs, os,
              [&](const LayoutSpace::Entry &out) { os << outSpace.coordinate(column, out.dim); },
              ",");
          if (outs.empty())
            os << '0';
        }
      },
      "; ");
  os << " -> ";
  printOutputs(os, outSpace);
  return text;
}

static std::optional<Dim> parseDim(StringRef name) {
  for (Dim dim : {Dim::Register, Dim::Lane, Dim::Warp, Dim::Block, Dim::Offset})
    if (name == dim.name())
      return dim;
  unsigned axis;
  if (name.consume_front("dim") && !name.getAsInteger(10, axis) && axis < 32)
    return Dim::axis(axis);
  return std::nullopt;
}

static Error malformed(const Twine &what) { return createStringError("layout text: " + what); }

static Expected<LayoutSpace::Entry> parseSize(Dim dim, StringRef text) {
  uint64_t size;
  if (text.getAsInteger(10, size) || !isPowerOf2_64(size) || size > (uint64_t(1) << 40))
    return malformed("expected a power of two, got '" + text + "'");
  return LayoutSpace::Entry{dim, Log2_64(size)};
}

/// The outputs in the order in which bases list them.
static Expected<SmallVector<LayoutSpace::Entry, 4>> parseOutputs(StringRef text) {
  SmallVector<LayoutSpace::Entry, 4> result;
  text = text.trim();
  if (text == "scalar")
    return result;
  SmallVector<StringRef, 4> parts;
  bool named = text.contains(':');
  text.split(parts, named ? ' ' : 'x', -1, /*KeepEmpty=*/!named);
  for (auto [index, part] : enumerate(parts)) {
    Dim dim = Dim::axis(index);
    if (named) {
      auto [name, size] = part.split(':');
      std::optional<Dim> parsed = parseDim(name.trim());
      if (!parsed)
        return malformed("unknown dimension '" + name + "'");
      dim = *parsed;
      part = size;
    }
    Expected<LayoutSpace::Entry> entry = parseSize(dim, part.trim());
    if (!entry)
      return entry.takeError();
    if (any_of(result, [&](const LayoutSpace::Entry &e) { return e.dim == dim; }))
      return malformed("'" + dim.name() + "' is named twice");
    result.push_back(*entry);
  }
  return result;
}

static Expected<BinaryVector> parseBasis(StringRef text, ArrayRef<LayoutSpace::Entry> outs,
                                         const LayoutSpace &out) {
  SmallVector<StringRef, 4> parts;
  text.split(parts, ',');
  if (parts.size() != std::max<size_t>(outs.size(), 1))
    return malformed("expected " + Twine(outs.size()) + " coordinates, got '" + text + "'");
  BinaryVector column = 0;
  for (auto [part, entry] : zip(parts, outs)) {
    uint64_t value;
    if (part.getAsInteger(10, value) || value >= (uint64_t(1) << entry.bits))
      return malformed("expected a coordinate below " + Twine(uint64_t(1) << entry.bits) +
                       ", got '" + part + "'");
    column = out.with(column, entry.dim, value);
  }
  return column;
}

Expected<LinearLayout> LinearLayout::parse(StringRef text) {
  size_t arrow = text.find("->");
  if (arrow == StringRef::npos)
    return malformed("expected '->'");
  auto outs = parseOutputs(text.substr(arrow + 2));
  if (!outs)
    return outs.takeError();
  unsigned outBits = 0;
  for (const LayoutSpace::Entry &entry : *outs)
    outBits += entry.bits;
  if (outBits > 62)
    return malformed("the outputs exceed 62 bits");
  LayoutSpace out(*outs);

  SmallVector<StringRef, 4> inputs;
  StringRef left = text.take_front(arrow).trim();
  if (!left.empty())
    left.split(inputs, ';');
  SmallVector<std::pair<Dim, BinaryColumns>, 4> parsed;
  SmallVector<LayoutSpace::Entry, 4> in;
  for (StringRef input : inputs) {
    auto [name, bases] = input.split(':');
    std::optional<Dim> dim = parseDim(name.trim());
    if (!dim || any_of(in, [&](const LayoutSpace::Entry &e) { return e.dim == *dim; }))
      return malformed("expected a new dimension, got '" + name.trim() + "'");
    SmallVector<StringRef, 8> vectors;
    bases.split(vectors, ' ', -1, /*KeepEmpty=*/false);
    BinaryColumns columns;
    for (StringRef vector : vectors) {
      Expected<BinaryVector> column = parseBasis(vector, *outs, out);
      if (!column)
        return column.takeError();
      columns.push_back(*column);
    }
    in.push_back({*dim, unsigned(columns.size())});
    parsed.push_back({*dim, columns});
  }
  llvm::sort(parsed, [](const auto &a, const auto &b) { return a.first < b.first; });
  BinaryColumns columns;
  for (auto &[dim, bases] : parsed)
    columns.append(bases.begin(), bases.end());
  if (columns.size() > 62)
    return malformed("more than 62 bases");
  return LinearLayout(LayoutSpace(in), out, columns);
}

} // namespace kiln
