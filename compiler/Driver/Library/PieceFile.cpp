#include "compiler/Driver/Library/PieceFile.h"
#include "compiler/Basic/Version.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <elf.h>
#include <link.h>

namespace json = llvm::json;

namespace kiln {
namespace {

constexpr llvm::StringLiteral magic = "kiln pieces ";
constexpr llvm::StringLiteral version = "1";

/// Paths and options are any bytes; JSON is not.
std::string utf8(llvm::StringRef text) {
  return json::isUTF8(text) ? text.str() : json::fixUTF8(text);
}

PieceFile pieceFileFrom(JsonMembers &in) {
  PieceFile file;
  in.elements("sources", [&](JsonMembers &source) {
    InputFile &one = file.sources.emplace_back();
    source.read("path", one.path);
    source.read("sha256", one.sha256);
  });
  in.elements("pieces", [&](JsonMembers &piece) {
    Piece &one = file.pieces.emplace_back();
    piece.read("name", one.name);
    piece.read("recipe", one.recipe);
    piece.within("result", [&](JsonMembers &result) { one.result = variantResultFrom(result); });
  });
  return file;
}

/// The build ID among the notes of a segment, in hexadecimal digits.
std::string buildIdIn(llvm::StringRef notes) {
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    const auto *note = reinterpret_cast<const ElfW(Nhdr) *>(notes.data());
    size_t name = llvm::alignTo(note->n_namesz, 4), text = llvm::alignTo(note->n_descsz, 4);
    if (notes.size() - sizeof *note < name + text)
      break;
    if (note->n_type == NT_GNU_BUILD_ID)
      return llvm::toHex(notes.substr(sizeof *note + name, note->n_descsz), /*LowerCase=*/true);
    notes = notes.drop_front(sizeof *note + name + text);
  }
  return "";
}

/// The first object is the program itself.
int findBuildId(dl_phdr_info *info, size_t, void *found) {
  for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = info->dlpi_phdr[i];
    const char *begin = reinterpret_cast<const char *>(info->dlpi_addr + segment.p_vaddr);
    std::string *id = static_cast<std::string *>(found);
    if (segment.p_type == PT_NOTE && id->empty())
      *id = buildIdIn({begin, segment.p_memsz});
  }
  return 1;
}

void describe(llvm::raw_ostream &os, const ArgumentValue &value) {
  os << unsigned(value.kind) << " " << value.dtype << " " << value.divisibility << " "
     << value.equalsOne << " " << unsigned(value.constant.kind) << " " << value.constant.str()
     << " " << value.padsWithNan << " [" << llvm::join(value.fields, ",") << "]";
  for (int64_t extent : value.blockShape)
    os << " " << extent;
  os << " (\n";
  for (const ArgumentValue &element : value.elements)
    describe(os, element);
  os << ")\n";
}

} // namespace

std::string describeTool() {
  static const std::string id = [] {
    std::string found;
    dl_iterate_phdr(findBuildId, &found);
    return found;
  }();
  return "kiln " + kilnVersion().str() + " (LLVM " LLVM_VERSION_STRING +
         (id.empty() ? "" : ", build " + id) + ")";
}

std::string describeOptions(const CompilerOptions &options) {
  const EmitOptions &emit = options.emit;
  std::string text = "-O" + std::to_string(emit.optLevel);
  text += emit.cudaEmit == CudaEmit::PTX    ? " --cuda-emit=ptx"
          : emit.cudaEmit == CudaEmit::Both ? " --cuda-emit=both"
                                            : " --cuda-emit=cubin";
  text += emit.lineInfo ? " --line-info=true" : " --line-info=false";
  for (const auto &[from, to] : emit.pathMap)
    text += " --path-map=" + from + "=" + to;
  if (!emit.libdevicePath.empty()) {
    auto file = llvm::MemoryBuffer::getFile(emit.libdevicePath);
    text += " --libdevice=" + (file ? sha256Of((*file)->getBuffer()) : "none");
  }
  return utf8(text);
}

std::string recipeOf(const BuildPlan &plan, const CompileJob &job) {
  const KernelInstance &instance = job.instance;
  const TargetInfo &target = plan.model.targets[job.target];
  const SpecOptions &requested = plan.model.entries[job.entry].variants[job.variant].options;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << instance.kernel << "\n" << target.name << "\n" << target.resolved() << "\n";
  for (const auto &[name, value] : instance.arguments) {
    os << name << " = ";
    describe(os, value);
  }
  for (const auto &[name, value] : instance.defines)
    os << name << " is " << unsigned(value.kind) << " " << value.str() << "\n";
  os << instance.numWarps << " " << instance.numStages << " " << instance.numCtas << " "
     << instance.debug << " " << instance.portable << " " << instance.deviceMemory << " "
     << instance.smallArrays << " " << instance.matrixSize << " " << instance.kPack << "\n";
  for (const std::optional<int64_t> &option : {requested.maxRegisters, requested.wavesPerEu})
    os << option.value_or(0) << "\n";
  os << requested.launchesEarly << " " << requested.isCooperative << " " << requested.fusesProducts
     << "\n";
  for (const ExpectedParameter &parameter : launcherParameters(plan.model, job))
    os << parameter.name << " " << parameter.size << "\n";
  os << job.mayBeDropped << "\n";
  return sha256Of(text);
}

std::string writePieceFile(const PieceFile &file) {
  json::Array sources, pieces;
  for (const InputFile &source : file.sources)
    sources.push_back(json::Object{{"path", utf8(source.path)}, {"sha256", source.sha256}});
  for (const Piece &piece : file.pieces)
    pieces.push_back(json::Object{
        {"name", piece.name}, {"recipe", piece.recipe}, {"result", toJson(piece.result)}});
  std::string text;
  llvm::raw_string_ostream(text) << json::Value(json::Object{{"tool", file.tool},
                                                             {"options", file.options},
                                                             {"sources", std::move(sources)},
                                                             {"pieces", std::move(pieces)}})
                                 << "\n";
  return (magic + version + " " + sha256Of(text) + "\n").str() + text;
}

llvm::Expected<PieceFile> readPieceFile(llvm::StringRef bytes) {
  auto fail = [](const llvm::Twine &why) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(), why);
  };
  if (!bytes.consume_front(magic))
    return fail("it does not begin with '" + magic.trim() + "'");
  auto [line, text] = bytes.split('\n');
  auto [format, hash] = line.split(' ');
  if (format != version)
    return fail("expected version " + version + " of the format, got '" + format.take_front(20) +
                "'");
  if (sha256Of(text) != hash)
    return fail("it is damaged");
  llvm::Expected<json::Value> value = parseJson(text);
  if (!value)
    return value.takeError();
  json::Path::Root root;
  JsonMembers in(*value, root);
  PieceFile file = pieceFileFrom(in);
  if (!in.isGood())
    return fail("parts of it are missing");
  // Without them it is of another tool, with other options.
  const json::Object &document = *value->getAsObject();
  file.tool = document.getString("tool").value_or("").str();
  file.options = document.getString("options").value_or("").str();
  return file;
}

} // namespace kiln
