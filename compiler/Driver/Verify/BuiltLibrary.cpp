#include "compiler/Driver/Verify/BuiltLibrary.h"
#include "compiler/Driver/Verify/LibraryDescription.h"
#include "compiler/Driver/Verify/NativeCall.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include <dlfcn.h>

namespace kiln {
namespace {

llvm::Error mistake(const llvm::Twine &what) { return llvm::createStringError(what); }

/// Its calls go to its own runtime: this program has functions of the same names, some of which it
/// exports. The sanitizer for addresses forbids what says so.
int openingMode() {
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  return RTLD_NOW | RTLD_LOCAL;
#endif
#endif
  return RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND;
}

/// A shared object and what it is called in.
class SharedObject {
public:
  static llvm::Expected<SharedObject> open(llvm::StringRef file) {
    llvm::SmallString<256> path(file);
    // Else it would be looked for where the system's libraries are.
    if (std::error_code error = llvm::sys::fs::make_absolute(path))
      return mistake(error.message());
    SharedObject object;
    object.handle = dlopen(path.c_str(), openingMode());
    if (!object.handle) {
      llvm::StringRef why(dlerror());
      why.consume_front((path + ": ").str());
      return mistake("it cannot be loaded: " + why);
    }
    return object;
  }

  /// Null without it.
  void *find(const std::string &name) const { return dlsym(handle, name.c_str()); }
  template <typename Function> Function *find(const std::string &name) const {
    return reinterpret_cast<Function *>(find(name));
  }

private:
  /// Never closed: the process ends soon.
  void *handle = nullptr;
};

/// Of a file called libNAME.so, perhaps with a version behind that.
std::string nameOfFile(llvm::StringRef path) {
  llvm::StringRef name = llvm::sys::path::filename(path).split(".so").first;
  name.consume_front("lib");
  return name.str();
}

llvm::Error checkVersion(llvm::StringRef what, uint32_t version) {
  if (version == KILN_ABI_VERSION)
    return llvm::Error::success();
  return mistake(what + " has version " + llvm::Twine(version) +
                 " of the interface between libraries and the runtime, this Kiln knows version " +
                 llvm::Twine(KILN_ABI_VERSION));
}

/// Finds the library's record, and its runtime's functions.
llvm::Expected<const kiln_library *>
readRuntime(const SharedObject &object, const VerifyOptions &verify, RuntimeFunctions &runtime) {
  std::string name = verify.libraryName.empty() ? nameOfFile(verify.library) : verify.libraryName;
  std::string recordName = verify.libraryPrefix + name + "_library";
  std::string versionName = verify.libraryPrefix + "kiln_abi_version";
  const auto *record = object.find<const kiln_library>(recordName);
  auto *versionOf = object.find<uint32_t()>(versionName);
  if (!record)
    return mistake("expected a library of Kiln named '" + name + "', but it has no '" + recordName +
                   "': --name and --prefix say how it is called");
  if (!versionOf)
    return mistake("expected a library that holds its runtime, but it has no '" + versionName +
                   "'");
  if (llvm::Error error = checkVersion("its runtime", versionOf()))
    return std::move(error);
  if (llvm::Error error = checkVersion("it", record->abi_version))
    return std::move(error);
#define KILN_RUNTIME_FUNCTION(NAME)                                                                \
  if (!(runtime.NAME = object.find<decltype(::NAME)>(verify.libraryPrefix + #NAME)))               \
    return mistake("its runtime has no '" #NAME "'");
#include "compiler/Driver/Run/RuntimeFunctions.def"
  return record;
}

llvm::Expected<LibraryDescription> describe(const kiln_library *record,
                                            const RuntimeFunctions &runtime) {
  size_t size = 0;
  kiln_status status = runtime.kiln_describe(record, nullptr, 0, &size);
  std::string text(size, '\0');
  if (status == KILN_SUCCESS)
    status = runtime.kiln_describe(record, text.data(), text.size(), nullptr);
  if (status != KILN_SUCCESS)
    return mistake(runtime.kiln_last_error());
  auto description = readLibraryDescription(llvm::StringRef(text).rtrim('\0'));
  if (!description)
    return mistake("what it says of itself cannot be used: " +
                   llvm::toString(description.takeError()));
  return description;
}

std::string driverOf(const TargetInfo &target) {
  return target.emulated ? "emu" : backendName(target.backend).str();
}

/// Which of its binaries a CPU or a GPU takes, the runtime knows. A name such as sm_90a is that of
/// a binary for it, or of code that its driver compiles.
bool isFor(const DescribedTarget &described, const TargetInfo &target) {
  llvm::StringRef own = described.arch, wanted = target.arch;
  for (llvm::StringRef *arch : {&own, &wanted})
    arch->consume_front("compute_") || arch->consume_front("sm_");
  bool isThisMachine = target.backend == Backend::CPU && !target.emulated;
  return described.driver == driverOf(target) && (isThisMachine || own == wanted);
}

/// The variant of the launch that was made last.
void noteVariant(void *user, kiln_launch_info *launch) {
  *static_cast<std::string *>(user) = launch->variant_name;
}

class BuiltLibrary final : public VerifiedKernels {
public:
  BuiltLibrary(SharedObject object, const RuntimeFunctions &functions, LibraryDescription described,
               const VerifyOptions &verify, TargetInfo info)
      : object(object), functions(functions), description(std::move(described)), verify(verify),
        info(std::move(info)) {
    // As captures call them.
    for (EntryModel &entry : description.entries)
      if (llvm::StringRef(entry.name).starts_with(verify.libraryPrefix))
        entry.name = entry.name.substr(verify.libraryPrefix.size());
  }

  const TargetInfo &target() const override { return info; }
  llvm::ArrayRef<EntryModel> entries() const override { return description.entries; }
  RuntimeFunctions runtime() const override { return functions; }
  bool load(std::vector<Replay> &) override { return true; }

  void choose(const CapturedLaunch &launch, Replay &replay) override {
    const EntryModel &entry = description.entries[replay.entry];
    replay.problem = whyNot(replay.entry);
    if (!replay.problem.empty())
      return;
    for (const VariantModel &variant : entry.variants)
      if (!description.hasCallersGrid[replay.entry] || isGridOf(launch, variant))
        replay.variants.push_back(variant.name);
    replay.isLibrarysChoice =
        replay.variants.size() == entry.variants.size() && !verify.allVariants;
    if (replay.variants.empty())
      replay.problem = noVariantOfConstants;
  }

  llvm::Expected<std::string> launch(const CapturedLaunch &launch, const Replay &replay,
                                     std::vector<RunValue> &values, RunDevice &device) override {
    std::string ran;
    functions.kiln_set_launch_hook(noteVariant, nullptr, &ran);
    llvm::scope_exit unset([&] { functions.kiln_set_launch_hook(nullptr, nullptr, nullptr); });
    int status = KILN_ERROR_NO_VARIANT;
    for (std::optional<unsigned> variant : attempts(replay)) {
      llvm::Expected<int> result = call(launch, replay, values, variant, device.stream());
      if (!result)
        return result.takeError();
      status = *result;
      if (!isRefusal(status))
        break;
    }
    if (isRefusal(status))
      return llvm::make_error<NotAccepted>(functions.kiln_last_error());
    if (status != KILN_SUCCESS)
      return mistake(functions.kiln_last_error());
    if (llvm::Error error = device.finish())
      return std::move(error);
    return ran.empty() ? "-" : ran; // an empty grid launches nothing
  }

private:
  /// What stands in the way of calling a function for the target, or "".
  std::string whyNot(unsigned index) const {
    const EntryModel &entry = description.entries[index];
    for (const char *suffix : {"", "_variant"})
      if (!object.find(verify.libraryPrefix + entry.name + suffix))
        return "the library does not export '" + verify.libraryPrefix + entry.name + suffix + "'";
    std::vector<std::string> targets;
    for (const DescribedTarget &described : description.targets[index]) {
      if (isFor(described, info))
        return "";
      targets.push_back(described.driver + ":" + described.arch);
    }
    return "the library has no code for " + info.name + ", but for " + llvm::join(targets, ", ");
  }

  /// The variants to launch, one after the other until one accepts the arguments; empty: the
  /// library chooses.
  std::vector<std::optional<unsigned>> attempts(const Replay &replay) const {
    if (replay.isLibrarysChoice)
      return {std::nullopt};
    std::vector<std::optional<unsigned>> indices;
    for (auto [index, variant] : llvm::enumerate(description.entries[replay.entry].variants))
      if (llvm::is_contained(replay.variants, variant.name))
        indices.push_back(unsigned(index));
    return indices;
  }

  static bool isRefusal(int status) {
    return status == KILN_ERROR_NO_VARIANT || status == KILN_ERROR_NO_BINARY;
  }

  /// The status of f(stream, [grid,] arguments) or f_variant(index, …).
  llvm::Expected<int> call(const CapturedLaunch &launch, const Replay &replay,
                           llvm::ArrayRef<RunValue> values, std::optional<unsigned> variant,
                           kiln_stream stream) const {
    const EntryModel &entry = description.entries[replay.entry];
    NativeCall native;
    if (variant)
      native.addInteger(*variant);
    native.addStream(stream);
    if (description.hasCallersGrid[replay.entry])
      for (int64_t size : launch.grid) {
        if (!llvm::isUInt<32>(uint64_t(size)))
          return mistake("its grid has a size of " + llvm::Twine(size) +
                         ", which the function does not take");
        native.addInteger(uint64_t(size));
      }
    for (unsigned index : callerArguments(entry))
      if (const EntryDescriptor *descriptor = descriptorAt(entry, index))
        native.addTensor(tensorOf(*descriptor, values.drop_front(index)));
      else
        addScalar(native, entry.arguments[index].type, values[index].bits);
    std::string symbol = verify.libraryPrefix + entry.name + (variant ? "_variant" : "");
    if (std::optional<int> status = native.call(object.find(symbol)))
      return *status;
    return mistake("its function has more arguments than kiln verify can pass");
  }

  static void addScalar(NativeCall &native, const ArgumentType &type, uint64_t bits) {
    unsigned bytes = type.bytes();
    ElementClass kind = elementClass(type.element);
    if (type.isPointer() || kind == ElementClass::Unsigned)
      native.addInteger(bits);
    else if (kind == ElementClass::Bool)
      native.addInteger(bits != 0);
    else if (kind == ElementClass::Signed)
      native.addInteger(uint64_t(llvm::SignExtend64(bits, 8 * bytes)));
    else if (bytes < 4) // C has their bits
      native.addInteger(bits);
    else
      native.addFloat(bits);
  }

  /// Of its parts: the base, the shape, and the strides but the last, which is 1.
  static kiln_tensor tensorOf(const EntryDescriptor &descriptor, llvm::ArrayRef<RunValue> parts) {
    kiln_tensor tensor = {};
    unsigned rank = descriptor.rank;
    tensor.base = reinterpret_cast<void *>(uintptr_t(parts[0].bits));
    tensor.rank = rank;
    for (unsigned axis = 0; axis < rank; ++axis) {
      tensor.shape[axis] = int64_t(parts[1 + axis].bits);
      tensor.strides[axis] = axis + 1 < rank ? int64_t(parts[1 + rank + axis].bits) : 1;
    }
    return tensor;
  }

  const SharedObject object;
  const RuntimeFunctions functions;
  LibraryDescription description;
  const VerifyOptions &verify;
  const TargetInfo info;
};

llvm::Expected<std::unique_ptr<BuiltLibrary>> load(const VerifyOptions &verify, TargetInfo target) {
  if (!NativeCall::isPossible())
    return mistake("calls of its functions are not possible on this machine");
  auto object = SharedObject::open(verify.library);
  if (!object)
    return object.takeError();
  RuntimeFunctions runtime;
  auto record = readRuntime(*object, verify, runtime);
  if (!record)
    return record.takeError();
  auto description = describe(*record, runtime);
  if (!description)
    return description.takeError();
  return std::make_unique<BuiltLibrary>(*object, runtime, std::move(*description), verify,
                                        std::move(target));
}

} // namespace

std::unique_ptr<VerifiedKernels> loadBuiltLibrary(const VerifyOptions &verify,
                                                  const std::string &targetName,
                                                  llvm::ArrayRef<CapturedLaunch> launches,
                                                  Session &session) {
  auto target = parseTarget(targetName);
  if (!target) {
    session.diagnostics.report(DiagKind::DriverBadFlag, DiagPlace(), "-t",
                               llvm::toString(target.takeError()));
    session.flush();
    return nullptr;
  }
  auto library = load(verify, std::move(*target));
  if (!library) {
    session.diagnostics.report(DiagKind::DriverKernelLibrary, DiagPlace(), verify.library,
                               llvm::toString(library.takeError()));
    session.flush();
    return nullptr;
  }
  std::vector<std::string> names;
  for (const EntryModel &entry : (*library)->entries())
    names.push_back(entry.name);
  reportUnknownFunctions(launches, names, verify.library, session.diagnostics);
  return session.flush() ? std::move(*library) : nullptr;
}

} // namespace kiln
