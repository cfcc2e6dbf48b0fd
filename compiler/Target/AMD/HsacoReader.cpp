//===- HsacoReader.cpp - What an HSACO says about its kernels -----------------===//

#include "compiler/Target/AMD/HsacoReader.h"
#include "compiler/Target/TargetError.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/BinaryFormat/MsgPackReader.h"
#include "llvm/Object/ELF.h"
#include <optional>

namespace kiln {

namespace {

using File = llvm::object::ELFFile<llvm::object::ELF64LE>;

/// A MessagePack value. LLVM's own msgpack::Document aborts on maps whose keys are maps and on
/// nesting without end, so the tree is built here, with bounds.
struct Node {
  enum class Kind { Other, Number, String, Array, Map } kind = Kind::Other;
  uint64_t number = 0;
  llvm::StringRef string;
  /// The elements; a map's keys and values in turn.
  std::vector<Node> items;
};

class TreeReader {
public:
  explicit TreeReader(llvm::StringRef blob) : reader(blob) {}

  /// Nothing when the blob is malformed, or larger or deeper than any compiler's metadata.
  std::optional<Node> read(unsigned depth = 0) {
    llvm::msgpack::Object object;
    llvm::Expected<bool> more = reader.read(object);
    if (!more) {
      llvm::consumeError(more.takeError());
      return std::nullopt;
    }
    if (!*more || depth > maxDepth || ++nodes > maxNodes)
      return std::nullopt;
    Node node;
    switch (object.Kind) {
    case llvm::msgpack::Type::UInt:
      node.kind = Node::Kind::Number;
      node.number = object.UInt;
      return node;
    case llvm::msgpack::Type::Int:
      node.kind = Node::Kind::Number;
      node.number = static_cast<uint64_t>(object.Int);
      return node;
    case llvm::msgpack::Type::String:
      node.kind = Node::Kind::String;
      node.string = object.Raw;
      return node;
    case llvm::msgpack::Type::Array:
      return readItems(Node::Kind::Array, object.Length, depth);
    case llvm::msgpack::Type::Map:
      return readItems(Node::Kind::Map, 2 * uint64_t(object.Length), depth);
    default:
      return node;
    }
  }

private:
  std::optional<Node> readItems(Node::Kind kind, uint64_t count, unsigned depth) {
    Node node;
    node.kind = kind;
    for (uint64_t i = 0; i != count; ++i) {
      std::optional<Node> item = read(depth + 1);
      if (!item)
        return std::nullopt;
      node.items.push_back(std::move(*item));
    }
    return node;
  }

  static constexpr unsigned maxDepth = 16, maxNodes = 1 << 20;
  llvm::msgpack::Reader reader;
  unsigned nodes = 0;
};

/// The value of `key` in a map; an empty node otherwise.
const Node &lookup(const Node &map, llvm::StringRef key) {
  static const Node absent;
  if (map.kind == Node::Kind::Map)
    for (size_t i = 0; i + 1 < map.items.size(); i += 2)
      if (map.items[i].kind == Node::Kind::String && map.items[i].string == key)
        return map.items[i + 1];
  return absent;
}

uint32_t number(const Node &map, llvm::StringRef key) {
  return static_cast<uint32_t>(lookup(map, key).number);
}

std::string string(const Node &map, llvm::StringRef key) { return lookup(map, key).string.str(); }

void readParameters(const Node &arguments, HsacoKernel &kernel) {
  if (arguments.kind != Node::Kind::Array)
    return;
  for (const Node &argument : arguments.items) {
    if (lookup(argument, ".value_kind").string.starts_with("hidden_"))
      ++kernel.hiddenParameters;
    else
      kernel.parameters.push_back(
          {string(argument, ".name"), number(argument, ".offset"), number(argument, ".size")});
  }
}

HsacoKernel readKernel(const Node &map) {
  HsacoKernel kernel;
  kernel.symbol = string(map, ".name");
  kernel.kernargBytes = number(map, ".kernarg_segment_size");
  kernel.wavefrontSize = number(map, ".wavefront_size");
  kernel.maxFlatWorkgroupSize = number(map, ".max_flat_workgroup_size");
  const Node &sizes = lookup(map, ".reqd_workgroup_size");
  for (size_t i = 0; i != 3 && i < sizes.items.size(); ++i)
    kernel.requiredWorkgroupSize[i] = static_cast<uint32_t>(sizes.items[i].number);
  readParameters(lookup(map, ".args"), kernel);

  ResourceUsage &resources = kernel.resources;
  // On gfx90a and later .vgpr_count is the sum with the accumulation registers.
  resources.registers = number(map, ".vgpr_count");
  resources.scalarRegisters = number(map, ".sgpr_count");
  // A spilled SGPR goes to a VGPR's lane, not to memory.
  resources.spillStoreBytes = resources.spillLoadBytes = 4 * number(map, ".vgpr_spill_count");
  kernel.spilledScalars = number(map, ".sgpr_spill_count");
  resources.staticSharedBytes = number(map, ".group_segment_fixed_size");
  resources.stackBytes = number(map, ".private_segment_fixed_size");
  return kernel;
}

llvm::Error readMetadata(llvm::StringRef blob, HsacoInfo &info) {
  std::optional<Node> root = TreeReader(blob).read();
  if (!root)
    return targetError("malformed HSACO: its metadata is not MessagePack");
  const Node &kernels = lookup(*root, "amdhsa.kernels");
  if (kernels.kind != Node::Kind::Array)
    return targetError("malformed HSACO: its metadata has no list of kernels");
  for (const Node &kernel : kernels.items)
    info.kernels.push_back(readKernel(kernel));
  return llvm::Error::success();
}

/// ELF's ABI version counts code object versions from 2 on.
unsigned codeObjectVersion(const llvm::object::ELF64LE::Ehdr &header) {
  unsigned abi = header.e_ident[llvm::ELF::EI_ABIVERSION];
  return abi >= llvm::ELF::ELFABIVERSION_AMDGPU_HSA_V4 ? abi + 2 : 0;
}

/// The metadata's bytes among the notes of the program headers.
llvm::Expected<llvm::StringRef> findMetadata(const File &file) {
  auto headers = file.program_headers();
  if (!headers)
    return headers.takeError();
  for (const auto &header : *headers) {
    if (header.p_type != llvm::ELF::PT_NOTE)
      continue;
    llvm::Error error = llvm::Error::success();
    std::optional<llvm::StringRef> found;
    for (const auto &note : file.notes(header, error))
      if (!found && note.getName() == "AMDGPU" && note.getType() == llvm::ELF::NT_AMDGPU_METADATA)
        found = note.getDescAsStringRef(4);
    if (error)
      return std::move(error);
    if (found)
      return *found;
  }
  return targetError("malformed HSACO: no AMDGPU metadata note");
}

} // namespace

llvm::Expected<HsacoInfo> readHsaco(llvm::StringRef bytes) {
  auto magic = llvm::object::getElfArchType(bytes);
  if (!bytes.starts_with(llvm::StringRef(llvm::ELF::ElfMagic, 4)) ||
      magic.first != llvm::ELF::ELFCLASS64 || magic.second != llvm::ELF::ELFDATA2LSB)
    return targetError("not an HSACO: no 64-bit little-endian ELF header");
  auto file = File::create(bytes);
  if (!file)
    return file.takeError();
  const auto &header = file->getHeader();
  if (header.e_machine != llvm::ELF::EM_AMDGPU)
    return targetError("not an HSACO: ELF machine ", unsigned(header.e_machine), ", expected ",
                       unsigned(llvm::ELF::EM_AMDGPU));
  HsacoInfo info;
  info.machine = header.e_flags & llvm::ELF::EF_AMDGPU_MACH;
  info.codeObjectVersion = codeObjectVersion(header);
  auto metadata = findMetadata(*file);
  if (!metadata)
    return metadata.takeError();
  if (llvm::Error error = readMetadata(*metadata, info))
    return std::move(error);
  return info;
}

} // namespace kiln
