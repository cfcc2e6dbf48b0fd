//===- EmitMLIRTest.cpp - From the LLVM dialect, with line tables --------------===//

#include "compiler/Target/Emission/Emit.h"
#include "compiler/Target/Emission/VerifyAbi.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/Object/ObjectFile.h"
#include "gtest/gtest.h"

using namespace kiln;

namespace {

/// y[thread] = a * x[thread], with the places of a kernel file and of a function inlined into it.
std::string kernel(llvm::StringRef threadId, llvm::StringRef space) {
  std::string text = R"(
#head = loc("/home/me/project/kernels/scale.py":10:1)
#body = loc("/home/me/project/kernels/scale.py":12:5)
#last = loc("/home/me/project/kernels/scale.py":14:5)
#inlined = loc("/home/me/project/lib/math.py":3:9)
module {
  llvm.func @scale(%x: !llvm.ptr$S, %y: !llvm.ptr$S, %a: f32) {
    %t = $T loc(#body)
    %xp = llvm.getelementptr %x[%t] : (!llvm.ptr$S, i32) -> !llvm.ptr$S, f32 loc(#body)
    %v = llvm.load %xp : !llvm.ptr$S -> f32 loc(#body)
    %w = llvm.fmul %v, %a : f32 loc(callsite(#inlined at #body))
    %yp = llvm.getelementptr %y[%t] : (!llvm.ptr$S, i32) -> !llvm.ptr$S, f32 loc(#last)
    llvm.store %w, %yp : f32, !llvm.ptr$S loc(#last)
    llvm.return loc(#last)
  } loc(#head)
}
)";
  auto replace = [&](llvm::StringRef name, llvm::StringRef by) {
    for (size_t at; (at = text.find(name)) != std::string::npos;)
      text.replace(at, name.size(), by);
  };
  replace("$T", threadId);
  replace("$S", space);
  return text;
}

class EmitMLIR : public ::testing::Test {
protected:
  EmitMLIR() {
    context
        .loadDialect<mlir::LLVM::LLVMDialect, mlir::NVVM::NVVMDialect, mlir::ROCDL::ROCDLDialect>();
    options.pathMap = {{"/home/me/project", "src"}};
  }

  DeviceBinary emit(const std::string &text, const char *name) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!module) {
      ADD_FAILURE() << "the test's own module does not parse";
      return {};
    }
    TargetInfo target = llvm::cantFail(parseTarget(name));
    KernelFacts facts;
    facts.symbol = "scale";
    facts.launch.threadsPerBlock = target.threadsPerBlock(4);
    auto binary = emitDeviceBinary(*module, facts, target, options);
    if (binary)
      return std::move(*binary);
    ADD_FAILURE() << llvm::toString(binary.takeError());
    return {};
  }

  static llvm::StringRef bytes(const DeviceBinary &binary) {
    return llvm::StringRef(binary.bytes.data(), binary.bytes.size());
  }

  /// "file:line" of every row of the line tables.
  static std::vector<std::string> lines(const DeviceBinary &binary) {
    auto object =
        llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(bytes(binary), "binary"));
    if (!object) {
      ADD_FAILURE() << llvm::toString(object.takeError());
      return {};
    }
    auto dwarf = llvm::DWARFContext::create(**object);
    std::vector<std::string> found;
    for (const auto &unit : dwarf->compile_units())
      if (const auto *table = dwarf->getLineTableForUnit(unit.get()))
        for (const auto &row : table->Rows) {
          std::string file;
          table->getFileNameByIndex(
              row.File, "", llvm::DILineInfoSpecifier::FileLineInfoKind::RelativeFilePath, file);
          found.push_back(file + ":" + std::to_string(row.Line));
        }
    return found;
  }

  mlir::MLIRContext context;
  EmitOptions options;
};

const char *nvvmThread = "nvvm.read.ptx.sreg.tid.x : i32";
const char *rocdlThread = "rocdl.workitem.id.x : i32";

void expectLine(const std::vector<std::string> &lines, const char *line) {
  EXPECT_NE(std::find(lines.begin(), lines.end(), line), lines.end())
      << line << " is not among " << ::testing::PrintToString(lines);
}

TEST_F(EmitMLIR, HsacoHasLineTables) {
  DeviceBinary binary = emit(kernel(rocdlThread, "<1>"), "hip:gfx942");
  EXPECT_FALSE(bytes(binary).contains("/home/me"));
  auto found = lines(binary);
  expectLine(found, "src/kernels/scale.py:12");
  expectLine(found, "src/kernels/scale.py:14");
  expectLine(found, "src/lib/math.py:3");
  EXPECT_EQ(binary.parameters.size(), 3u);
}

TEST_F(EmitMLIR, CubinHasLineTables) {
  options.capturePTX = true;
  DeviceBinary binary = emit(kernel(nvvmThread, "<1>"), "cuda:sm_90a");
  EXPECT_FALSE(bytes(binary).contains("/home/me"));
  EXPECT_TRUE(bytes(binary).contains("src/kernels/scale.py") || bytes(binary).contains("scale.py"));
  EXPECT_NE(binary.ptx.find("\"src/kernels/scale.py\""), std::string::npos) << binary.ptx;
  EXPECT_NE(binary.ptx.find(".loc\t1 12 5"), std::string::npos) << binary.ptx;
  EXPECT_EQ(binary.ptx.find(", debug"), std::string::npos) << "the optimiser is off";
  EXPECT_EQ(binary.ptx.find("/home/me"), std::string::npos);
  EXPECT_EQ(binary.parameters.size(), 3u);
}

TEST_F(EmitMLIR, HostObjectHasLineTables) {
  DeviceBinary binary = emit(kernel("llvm.mlir.constant(0 : i32) : i32", ""), "cpu:x86-64-v3");
  EXPECT_FALSE(bytes(binary).contains("/home/me"));
  expectLine(lines(binary), "src/kernels/scale.py:14");
}

TEST_F(EmitMLIR, AMappedFileKeepsItsName) {
  options.capturePTX = true;
  options.pathMap = {{"/home/me/project/kernels/scale.py", "kernel.py"}};
  options.sourceName = [](llvm::StringRef path) { return "lib/" + path.rsplit('/').second.str(); };
  DeviceBinary binary = emit(kernel(nvvmThread, "<1>"), "cuda:sm_90a");
  EXPECT_NE(binary.ptx.find("\"kernel.py\"\n"), std::string::npos) << binary.ptx;
  EXPECT_NE(binary.ptx.find("\"lib/math.py\"\n"), std::string::npos) << binary.ptx;
}

TEST_F(EmitMLIR, NoLineTablesOnRequest) {
  options.lineInfo = false;
  for (const char *name : {"cuda:sm_80", "hip:gfx1100"}) {
    bool isCuda = name[0] == 'c';
    DeviceBinary binary = emit(kernel(isCuda ? nvvmThread : rocdlThread, "<1>"), name);
    EXPECT_FALSE(bytes(binary).contains("scale.py"));
    EXPECT_FALSE(bytes(binary).contains("debug_line"));
  }
}

TEST_F(EmitMLIR, TwoFoldersGiveTheSameBytes) {
  for (const char *name : {"cuda:sm_90a", "hip:gfx942"}) {
    std::string text = kernel(name[0] == 'c' ? nvvmThread : rocdlThread, "<1>");
    DeviceBinary here = emit(text, name);
    std::string moved = text;
    for (size_t at; (at = moved.find("/home/me/project")) != std::string::npos;)
      moved.replace(at, 16, "/srv/other");
    options.pathMap = {{"/srv/other", "src"}, {"/home/me/project", "src"}};
    EXPECT_EQ(here.bytes, emit(moved, name).bytes) << name;
  }
}

TEST_F(EmitMLIR, WhatCannotBeTranslatedIsLocated) {
  const char *text = R"(
module {
  llvm.func @scale(%x: !llvm.ptr) {
    %0 = builtin.unrealized_conversion_cast %x : !llvm.ptr to i32 loc("kernel.py":4:2)
    llvm.return
  }
})";
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  ASSERT_TRUE(module);
  KernelFacts facts;
  facts.symbol = "scale";
  auto binary =
      emitDeviceBinary(*module, facts, llvm::cantFail(parseTarget("cuda:sm_80")), options);
  ASSERT_FALSE(bool(binary));
  std::string error = llvm::toString(binary.takeError());
  EXPECT_EQ(error.find("kernel.py:4:2: "), 0u) << error;
}

} // namespace
