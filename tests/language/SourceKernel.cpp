#include "tests/language/SourceKernel.h"

#include "codegen/RuntimeRecords.h"
#include "compiler/Driver/Planning/BuildPlan.h"
#include "compiler/Pipeline/DiagnosticBridge.h"
#include "compiler/Pipeline/Pipeline.h"
#include "compiler/Sema/Builtins/Builtins.h"
#include "compiler/Sema/Sema.h"
#include "mlir/IR/MLIRContext.h"
#include "runtime/emulator/kiln_emu.h"
#include "runtime/kiln.h"
#include "tests/compiler/Target/CPU/LoadedObject.h"
#include "tests/language/MachineCode.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <set>

namespace kiln::testing {
namespace {

constexpr char prelude[] = "import triton\nimport triton.language as tl\n"
                           "from triton.language.extra import libdevice\n";

// What was compiled for this very machine runs on it: the oldest name for it will do.
#ifdef __x86_64__
constexpr char hostArch[] = "x86-64";
#else
constexpr char hostArch[] = "aarch64";
#endif

/// Of this program: by target, the functions that kernels called which compiled and ran.
std::map<std::string, std::set<std::string>> &calledByTarget() {
  static std::map<std::string, std::set<std::string>> called;
  return called;
}

/// One for all: loading dialects takes longer than compiling a small kernel.
mlir::MLIRContext &sharedContext() {
  static mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  return context;
}

/// What an emulated target is where machine code is executed in its place.
std::string machineCodeTarget(llvm::StringRef target) {
  if (machineCodeRunner() && target.consume_front("emu:gfx"))
    return ("hip:gfx" + target).str();
  return target.str();
}

ArgumentValue argumentValue(const SourceArgument &argument) {
  auto [type, facts] = llvm::StringRef(argument.type).split(':');
  unsigned number = argument.memory ? 16 : 0;
  facts.getAsInteger(10, number);
  bool isScalar = !type.starts_with("*");
  return ArgumentValue::runTime(type.str(), std::max(number, 1u), isScalar && number == 1);
}

kiln_param_kind kindOf(const SourceArgument &argument) {
  if (argument.memory)
    return KILN_PARAM_POINTER;
  ArgumentType type;
  std::optional<ElementType> element =
      parseElementType(llvm::StringRef(argument.type).split(':').first);
  type.element = element.value_or(ElementType::Int32);
  return element ? parameterKind(type) : KILN_PARAM_BYTES;
}

/// The size of a kernel's parameter.
uint16_t parameterBytes(llvm::StringRef type) {
  std::optional<sema::DType> dtype = sema::parseDType(type.split(':').first);
  return dtype ? uint16_t((dtype->getBits() + 7) / 8) : 0;
}

/// A binary in this process.
struct LoadedBinary {
  LoadedBinary(const DeviceBinary &binary, bool isEmulated) : object(binary) {
    record.host = object.entry();
    record.symbol = binary.symbol.c_str();
    record.threads = isEmulated ? binary.launch.threadsPerBlock : 0;
    record.shared_bytes = binary.launch.dynamicSharedBytes;
    llvm::copy(binary.launch.clusterDims, record.cluster);
    record.arena_bytes = binary.launch.arenaBytes;
    for (const TensorMapFacts &map : binary.launch.tensorMaps)
      tensorMaps.push_back(tensorMapRecord(map));
    record.tensor_maps = tensorMaps.data();
    record.num_tensor_maps = uint32_t(tensorMaps.size());
    if (!binary.fallback)
      return;
    fallback = std::make_unique<LoadedBinary>(*binary.fallback, isEmulated);
    record.fallback = &fallback->record;
  }

  LoadedObject object;
  std::vector<kiln_tensor_map> tensorMaps;
  std::unique_ptr<LoadedBinary> fallback;
  kiln_binary record = {};
};

} // namespace

struct SourceKernel::Code {
  TargetInfo target;
  std::string errors;
  std::set<const sema::BuiltinInfo *> called;
  DeviceBinary binary;
  std::unique_ptr<LoadedBinary> loaded;

  //--- The records of a generated library with one kernel (runtime/kiln_records.h) ---
  std::vector<kiln_param> parameters;
  kiln_variant variant = {};
  kiln_target where = {};
  kiln_entry_state state = {};
  kiln_entry entry = {};
  const kiln_entry *entries[1] = {&entry};
  kiln_library library = {KILN_ABI_VERSION, 1, "test", entries, nullptr, nullptr, 0};
  /// Null: the default one.
  kiln_cpu_pool *pool = nullptr;

  ~Code() {
    if (loaded)
      kiln_unload(&library);
    kiln_cpu_pool_destroy(pool);
  }

  bool isMachineCode() const { return target.backend == Backend::HIP && !target.emulated; }
  void compile(const std::string &source, const KernelInstance &instance,
               const SourceOptions &asked);
  void load(const std::vector<SourceArgument> &arguments);
  std::string launch(kiln_stream stream, const std::vector<SourceArgument> &arguments,
                     std::array<uint32_t, 3> grid);
  std::string emulate(const std::vector<SourceArgument> &arguments, std::array<uint32_t, 3> grid);
};

void SourceKernel::Code::compile(const std::string &source, const KernelInstance &instance,
                                 const SourceOptions &asked) {
  PipelineOptions options;
  options.emit.fusesProducts = asked.fusesProducts;
  // What is tested of emulated targets is Kiln's lowering: optimising the host's code of it would
  // take as long as all else of these tests. Some of tests/kernels run optimised.
  if (target.emulated)
    options.emit.optLevel = 0;
  options.afterStage = [&](llvm::StringRef stage, mlir::ModuleOp module) {
    if (asked.edit && stage == "llvm")
      asked.edit(module);
    return true;
  };
  SourceManager sources;
  DiagnosticEngine diagnostics;
  ModuleLoader loader(sources);
  auto compiled = [&] {
    const LoadedModule *parsed =
        loader.loadText(sources.add("test.py", prelude + source), diagnostics);
    if (!parsed || diagnostics.hasErrors())
      return false;
    mlir::OwningOpRef<mlir::ModuleOp> module;
    {
      DiagnosticBridge bridge(&sharedContext(), diagnostics, sources);
      module = buildTileIR(sharedContext(), loader, *parsed, instance, diagnostics);
    }
    if (!module || diagnostics.hasErrors())
      return false;
    std::optional<Diagnostic> doesNotFit;
    auto result = runPipeline(*module, target, options, diagnostics, sources, doesNotFit);
    if (doesNotFit)
      errors += doesNotFit->message;
    if (result)
      binary = std::move(*result);
    return result.has_value();
  }();
  llvm::raw_string_ostream stream(errors);
  if (!compiled || diagnostics.hasErrors())
    diagnostics.print(stream, sources);
  if (!compiled && errors.empty())
    errors = "the compilation failed without a message";
}

void SourceKernel::Code::load(const std::vector<SourceArgument> &arguments) {
  // The object finds the emulator's functions in this process, which has them if it refers to one.
  auto *volatile emulator = &kiln_emu_run_block;
  (void)emulator;
  loaded = std::make_unique<LoadedBinary>(binary, target.emulated);
  uint32_t offset = 0;
  for (const SourceArgument &argument : arguments) {
    uint16_t bytes = parameterBytes(argument.type);
    offset = (offset + bytes - 1) / bytes * bytes;
    parameters.push_back({argument.name.c_str(), uint16_t(kindOf(argument)), bytes, offset});
    offset += bytes;
  }
  variant = {"kernel", parameters.data(), uint32_t(parameters.size()), 0, nullptr};
  where.driver = target.emulated ? KILN_DRIVER_EMULATOR : KILN_DRIVER_CPU;
  where.form = KILN_FORM_HOST;
  where.arch = target.emulated ? target.arch.c_str() : hostArch;
  entry = {&library, "kernel", &variant, &where,  &loaded->record, &state,
           1,        1,        nullptr,  nullptr, nullptr,         /*num_choice_words=*/0};
}

std::string SourceKernel::Code::launch(kiln_stream stream,
                                       const std::vector<SourceArgument> &arguments,
                                       std::array<uint32_t, 3> grid) {
  // Hosts are little-endian: a scalar's bytes are the first ones.
  std::vector<void *> params;
  for (const SourceArgument &argument : arguments)
    params.push_back(const_cast<uint64_t *>(&argument.bits));
  const int64_t programs[3] = {grid[0], grid[1], grid[2]};
  kiln_status status = kiln_launch(&entry, 0, stream, programs, params.data());
  return status == KILN_SUCCESS ? "" : std::string(kiln_last_error()) + "\n";
}

std::string SourceKernel::Code::emulate(const std::vector<SourceArgument> &arguments,
                                        std::array<uint32_t, 3> grid) {
  kiln_emulator *emulator = nullptr;
  if (kiln_emulator_create(target.arch.c_str(), pool, &emulator) != KILN_SUCCESS)
    return kiln_last_error();
  kiln_emulator_set_check(emulator, 1);
  std::set<const GuardedMemory *> known;
  for (const SourceArgument &argument : arguments)
    if (argument.memory && argument.memory->bytes() && known.insert(argument.memory).second)
      EXPECT_EQ(kiln_emulator_register(emulator, argument.memory->data(), argument.memory->bytes()),
                KILN_SUCCESS);
  std::string found = launch(kiln_emulator_stream(emulator), arguments, grid);
  if (kiln_emulator_num_reports(emulator))
    found.clear(); // It repeats the first one.
  for (uint32_t i = 0; i < kiln_emulator_num_reports(emulator); ++i)
    found += std::string(kiln_emulator_report(emulator, i)) + "\n";
  kiln_emulator_destroy(emulator);
  return found;
}

SourceKernel::SourceKernel(const std::string &source, const std::string &target,
                           const std::vector<SourceArgument> &arguments,
                           const std::vector<SourceConstant> &constants,
                           const SourceOptions &options)
    : code(std::make_unique<Code>()) {
  code->target = llvm::cantFail(parseTarget(machineCodeTarget(target)));
  if (options.threads)
    EXPECT_EQ(kiln_cpu_pool_create(options.threads, &code->pool), KILN_SUCCESS);
  KernelInstance instance;
  instance.kernel = "kernel";
  instance.numWarps = options.numWarps;
  instance.debug = options.debug;
  instance.smallArrays = options.smallArrays;
  instance.deviceMemory = options.deviceMemory;
  instance.numStages = options.numStages;
  instance.numCtas = options.numCtas;
  instance.matrixSize = options.matrixSize;
  instance.kPack = options.kPack;
  instance.target = answersOf(code->target);
  instance.calledBuiltins = &code->called;
  for (const SourceArgument &argument : arguments)
    instance.arguments.emplace_back(argument.name, argumentValue(argument));
  for (const SourceConstant &constant : constants)
    instance.arguments.emplace_back(constant.name, ArgumentValue::ofConstant(constant.value));
  code->compile(source, instance, options);
  if (code->errors.empty() && !code->isMachineCode())
    code->load(arguments);
}

SourceKernel::~SourceKernel() = default;

const std::string &SourceKernel::errors() const { return code->errors; }

std::string SourceKernel::run(const std::vector<SourceArgument> &arguments,
                              std::array<uint32_t, 3> grid) {
  if (!code->errors.empty())
    return code->errors;
  std::string found = code->target.emulated ? code->emulate(arguments, grid)
                      : code->isMachineCode()
                          ? machineCodeRunner()(code->binary, arguments, grid)
                          : code->launch(kiln_cpu_stream(code->pool), arguments, grid);
  for (const SourceArgument &argument : arguments)
    if (argument.memory)
      if (std::string at = argument.memory->overrun(); !at.empty())
        found += argument.name + ": " + at + " was written\n";
  if (found.empty())
    for (const sema::BuiltinInfo *info : code->called)
      calledByTarget()[code->target.name].insert(info->getQualifiedName());
  return found;
}

MachineCodeRunner &machineCodeRunner() {
  static MachineCodeRunner runner = nullptr;
  return runner;
}

std::string runSource(const std::string &source, const std::string &target,
                      const std::vector<SourceArgument> &arguments,
                      const std::vector<SourceConstant> &constants, const SourceOptions &options) {
  return SourceKernel(source, target, arguments, constants, options).run(arguments, options.grid);
}

std::string sourceTargetName(const ::testing::TestParamInfo<const char *> &info) {
  return llvm::StringRef(info.param).rsplit(':').second.empty()
             ? info.param
             : llvm::StringRef(info.param).rsplit(':').second.str();
}

namespace {

/// At the end of a whole run: has every declared function been run on every target?
class CoverageCheck : public ::testing::Environment {
public:
  explicit CoverageCheck(std::set<std::string> names) : names(std::move(names)) {}

  void TearDown() override {
    if (::testing::GTEST_FLAG(filter) != "*" ||
        ::testing::UnitTest::GetInstance()->failed_test_count())
      return;
    for (const char *target : sourceTargets)
      for (const std::string &name : names)
        EXPECT_TRUE(calledByTarget()[target].count(name))
            << name << " is in KILN_COVERS, but no test ran it on " << target;
  }

private:
  std::set<std::string> names;
};

} // namespace

bool declareCovered(const std::string &names) {
  std::set<std::string> all;
  llvm::SmallVector<llvm::StringRef> words;
  llvm::StringRef(names).split(words, ' ', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef word : words)
    all.insert(word.str());
  ::testing::AddGlobalTestEnvironment(new CoverageCheck(std::move(all)));
  return true;
}

} // namespace kiln::testing
