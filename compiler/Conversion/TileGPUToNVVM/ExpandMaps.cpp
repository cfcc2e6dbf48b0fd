// Expansion of target operations: the memory of tensor maps that kernels make.
//
// The module has an area of records, a variable, so many that each block that the device can hold
// at once has one: whoever launches, on which stream, from a graph or not, blocks that run have
// records of their own, and no launch allocates, waits or passes anything. A block looks for a free
// record from its processor's on, which is free as a rule, and marks it; when it ends it takes the
// mark away. Refused: a record for each block of the grid, which the launcher would have to
// allocate: cuMemAllocAsync costs every launch microseconds, and a captured graph that allocates
// cannot be instantiated twice.

#include "compiler/Conversion/TileGPUToNVVM/NVVMLowering.h"

#include "compiler/Conversion/TileGPUToNVVM/PTXText.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace kiln {
namespace {

constexpr llvm::StringLiteral areaSymbol = "kiln_map_records";

/// NVIDIA H100 Tensor Core GPU Architecture: processors of the full GH100.
constexpr int64_t mostProcessors = 144;

/// The area, all of whose records are free when the module is loaded.
LLVM::GlobalOp areaOf(ModuleOp module, int64_t bytes) {
  if (auto area = module.lookupSymbol<LLVM::GlobalOp>(areaSymbol))
    return area;
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  Location loc = module.getLoc();
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), bytes);
  auto area = LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/false, LLVM::Linkage::Internal,
                                     areaSymbol, Attribute(), MapRecord::mapBytes, /*addrSpace=*/1);
  b.createBlock(&area.getInitializerRegion());
  LLVM::ReturnOp::create(b, loc, LLVM::ZeroOp::create(b, loc, type).getResult());
  return area;
}

} // namespace

LogicalResult expandClaimToPTX(tilegpu::ClaimMapsOp op, OpBuilder &b) {
  int64_t bytes = MapRecord::bytes(op.getMaps()), records = mostProcessors * op.getBlocks();
  LLVM::GlobalOp area = areaOf(op->getParentOfType<ModuleOp>(), records * bytes);
  Value address = LLVM::AddressOfOp::create(b, op.getLoc(), area);
  // The lowest lane looks; the others learn its number.
  std::string text = "{\n"
                     ".reg .pred other, taken, last;\n"
                     ".reg .b32 number, word;\n"
                     "mov.u32 number, %laneid;\n"
                     "setp.ne.u32 other, number, 0;\n"
                     "mov.u32 number, %smid;\n"
                     "mul.lo.u32 number, number, " +
                     std::to_string(op.getBlocks()) +
                     ";\n"
                     "rem.u32 number, number, " +
                     std::to_string(records) +
                     ";\n"
                     "@other bra found;\n"
                     "look:\n"
                     "mad.wide.u32 $0, number, " +
                     std::to_string(bytes) +
                     ", $1;\n"
                     "atom.acquire.gpu.global.cas.b32 word, [$0], 0, 1;\n"
                     "setp.ne.u32 taken, word, 0;\n"
                     "@!taken bra found;\n"
                     "add.u32 number, number, 1;\n"
                     "setp.eq.u32 last, number, " +
                     std::to_string(records) +
                     ";\n"
                     "selp.b32 number, 0, number, last;\n"
                     "bra look;\n"
                     "found:\n"
                     "shfl.sync.idx.b32 number, number, 0, 31, 0xffffffff;\n"
                     "mad.wide.u32 $0, number, " +
                     std::to_string(bytes) +
                     ", $1;\n"
                     "}";
  // Written before the operand is read for the last time: a register of its own.
  Value record = assemble(b, op.getLoc(), op.getType(), {address}, text, "=&l,l,~{memory}").front();
  op.replaceAllUsesWith(record);
  op.erase();
  return success();
}

LogicalResult expandReleaseToPTX(tilegpu::ReleaseMapsOp op, OpBuilder &b) {
  assemble(b, op.getLoc(), TypeRange(), {op.getRecord()}, "st.release.gpu.global.b32 [$0], 0;",
           "l,~{memory}");
  op.erase();
  return success();
}

LogicalResult expandPublishToPTX(tilegpu::PublishMapOp op, OpBuilder &b) {
  assemble(b, op.getLoc(), TypeRange(), {op.getMap(), op.getImage()},
           "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
           "[$0], [$1], 128;",
           "l,r,~{memory}");
  op.erase();
  return success();
}

} // namespace kiln
