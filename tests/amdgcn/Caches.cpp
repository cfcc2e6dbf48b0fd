#include "tests/amdgcn/Caches.h"
#include <algorithm>
#include <cstring>

namespace kiln::amdgcn {
namespace {

/// Of a cache of loads 32 KiB, of an L2 4 MiB.
constexpr size_t mostLines = 512, mostLinesOfStores = 65536;

uint8_t *hostAddress(uint64_t address) { return reinterpret_cast<uint8_t *>(address); }

} // namespace

template <typename Function>
void Cache::forLines(uint64_t address, uint32_t bytes, Function function) {
  while (bytes) {
    uint32_t offset = address % lineBytes, part = std::min(bytes, lineBytes - offset);
    function(address - offset, offset, part);
    address += part;
    bytes -= part;
  }
}

Cache::Line &Cache::lineAt(uint64_t address) {
  if (lines.size() >= (keepsStores ? mostLinesOfStores : mostLines) && !lines.count(address)) {
    for (auto &[other, line] : lines)
      writeBack(other, line, ~uint64_t(0));
    lines.clear();
  }
  return lines[address];
}

void Cache::writeBack(uint64_t address, Line &line, uint64_t bytes) {
  for (uint32_t i = 0; i != lineBytes && (line.dirty & bytes) >> i; ++i)
    if ((line.dirty & bytes) >> i & 1)
      hostAddress(address)[i] = line.data[i];
  line.dirty &= ~bytes;
}

void Cache::load(uint64_t address, void *to, uint32_t bytes, Scope scope) {
  auto *out = static_cast<uint8_t *>(to);
  forLines(address, bytes, [&](uint64_t start, uint32_t offset, uint32_t part) {
    Line &line = lineAt(start);
    if (coherentWithin < scope)
      line.valid = line.dirty;
    if (uint64_t asked = bitsOf(offset, part); (line.valid & asked) != asked) {
      uint8_t fetched[lineBytes];
      if (next)
        next->load(start, fetched, lineBytes, scope);
      else
        std::memcpy(fetched, hostAddress(start), lineBytes);
      for (uint32_t i = 0; i != lineBytes; ++i)
        if (!(line.valid >> i & 1))
          line.data[i] = fetched[i];
      line.valid = ~uint64_t(0);
    }
    std::memcpy(out, line.data + offset, part);
    out += part;
  });
}

void Cache::store(uint64_t address, const void *from, uint32_t bytes, Scope scope) {
  const auto *in = static_cast<const uint8_t *>(from);
  bool isKept = keepsStores && coherentWithin >= scope;
  forLines(address, bytes, [&](uint64_t start, uint32_t offset, uint32_t part) {
    uint64_t stored = bitsOf(offset, part);
    auto found = keepsStores ? lines.end() : lines.find(start);
    if (keepsStores || found != lines.end()) {
      Line &line = keepsStores ? lineAt(start) : found->second;
      std::memcpy(line.data + offset, in, part);
      line.valid |= stored;
      line.dirty = isKept ? line.dirty | stored : line.dirty & ~stored;
    }
    in += part;
  });
  if (isKept)
    return;
  if (next)
    next->store(address, from, bytes, scope);
  else
    std::memcpy(hostAddress(address), from, bytes);
}

void Cache::release(uint64_t address, uint32_t bytes) {
  forLines(address, bytes, [&](uint64_t start, uint32_t offset, uint32_t part) {
    auto found = lines.find(start);
    if (found == lines.end())
      return;
    writeBack(start, found->second, bitsOf(offset, part));
    found->second.valid &= ~bitsOf(offset, part);
  });
  if (next)
    next->release(address, bytes);
}

void Cache::drop() {
  for (auto line = lines.begin(); line != lines.end();) {
    line->second.valid = line->second.dirty;
    line = line->second.valid ? std::next(line) : lines.erase(line);
  }
}

void Cache::invalidate(Scope scope) {
  if (coherentWithin < scope)
    drop();
  if (next)
    next->invalidate(scope);
}

void Cache::writeBack(Scope scope) {
  if (coherentWithin < scope)
    for (auto &[address, line] : lines)
      writeBack(address, line, ~uint64_t(0));
  if (next)
    next->writeBack(scope);
}

Caches::Caches(const std::string &processor) {
  auto make = [](Scope coherentWithin, bool keepsStores, Cache *next) {
    return std::make_unique<Cache>(coherentWithin, keepsStores, next);
  };
  if (processor == "gfx942" || processor == "gfx950")
    second = make(Scope::Workgroup, true, nullptr);
  if (processor.substr(0, 4) == "gfx9") {
    units.push_back(make(Scope::Workgroup, false, second.get()));
  } else {
    first = make(Scope::Workgroup, false, nullptr);
    for (int i = 0; i != 2; ++i)
      units.push_back(make(Scope::Unit, false, first.get()));
  }
  scalars = make(Scope::System, false, second ? second.get() : first.get());
}

void Caches::writeBack() {
  for (auto &unit : units)
    unit->writeBack(Scope::System);
}

} // namespace kiln::amdgcn
