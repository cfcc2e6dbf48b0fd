// LLVM makes a fence into waits that it drops where nothing is in flight. Up to LLVM 22 it decides
// that when it first comes to a block (SIInsertWaitcnts, "soft" waits): in a loop it has not seen
// then what the iteration before leaves in flight, and does not take the decision back
// (llvm-project's pull request 220357 mends it). A loop that ends in a write to shared memory and
// begins with a barrier so lets other waves read what was there before, if nothing was in flight in
// front of the loop; so does one of global memory where fences of a block wait for that. Waits that
// the program asks for by an intrinsic are never dropped; but they change how LLVM orders what is
// around them, so the code is looked at first.
//
// A fence that other blocks see releases what a wave has stored by a wait as well, on GFX9 behind
// an instruction that writes the cache back (`buffer_wbl2`). That LLVM 22 does not count as in
// flight, so that it drops the wait also outside of loops, where all stores have arrived in the
// cache. Such fences order accesses anyway: their waits always stay.

#include "compiler/Target/AMD/KeepWaits.h"
#include "compiler/Target/AMD/Waits.h"
#include "compiler/Target/TargetInfo.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/MemoryModelRelaxationAnnotations.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/Target/TargetMachine.h"

namespace kiln {
namespace {

/// Fences of a block wait for global memory on RDNA alone, whose block may have the caches of two
/// units (LLVM, "User Guide for AMDGPU Backend", "Memory Model").
bool isOfGlobal(const llvm::FenceInst &fence, const TargetInfo &target) {
  if (llvm::MMRAMetadata(fence).hasTag("amdgpu-synchronize-as", "local"))
    return false;
  bool isOfBlock = fence.getSyncScopeID() == fence.getContext().getOrInsertSyncScopeID("workgroup");
  return !isOfBlock || target.matrix.wmmaGeneration != 0;
}

/// A wave alone sees its own accesses in order.
bool releases(const llvm::FenceInst &fence) {
  llvm::LLVMContext &context = fence.getContext();
  return llvm::isReleaseOrStronger(fence.getOrdering()) &&
         fence.getSyncScopeID() != llvm::SyncScope::SingleThread &&
         fence.getSyncScopeID() != context.getOrInsertSyncScopeID("wavefront");
}

bool releasesToOtherBlocks(const llvm::FenceInst &fence) {
  return releases(fence) &&
         fence.getSyncScopeID() != fence.getContext().getOrInsertSyncScopeID("workgroup");
}

/// A barrier, or the first half of one.
bool meets(const llvm::Instruction &op) {
  auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&op);
  return call && (call->getIntrinsicID() == llvm::Intrinsic::amdgcn_s_barrier ||
                  call->getIntrinsicID() == llvm::Intrinsic::amdgcn_s_barrier_signal);
}

/// What the fences in front of a barrier stand for. They may stand elsewhere, where LLVM has made
/// one of those at the beginnings of two branches: then what a full one waits for.
Waits waitsBefore(const llvm::Instruction &barrier, const TargetInfo &target) {
  auto fenceBefore = [](const llvm::Instruction *op) {
    return llvm::dyn_cast_or_null<llvm::FenceInst>(op->getPrevNode());
  };
  const llvm::FenceInst *fence = fenceBefore(&barrier);
  bool ofGlobal = !fence && target.matrix.wmmaGeneration != 0;
  for (; fence; fence = fenceBefore(fence))
    ofGlobal |= releases(*fence) && isOfGlobal(*fence, target);
  return {.ofShared = true, .ofLoads = ofGlobal, .ofStores = ofGlobal};
}

/// What a wave counts in flight; GFX9 counts stores among the loads.
enum class Counter : uint8_t { Shared, Loads, Stores };

/// What instructions are to accesses in flight.
enum class Role : uint8_t { None, Access, Wait, Barrier, End };

bool isWait(llvm::StringRef name, const llvm::MCInst &instruction, Counter counter, bool isGfx9) {
  if (!name.starts_with("S_WAIT") || !instruction.getNumOperands())
    return false;
  const llvm::MCOperand &last = instruction.getOperand(instruction.getNumOperands() - 1);
  if (!last.isImm())
    return false;
  auto fields = uint64_t(last.getImm());
  if (name.starts_with("S_WAITCNT_gfx") || name.starts_with("S_WAITCNT_vi"))
    return counter == Counter::Shared  ? (isGfx9 ? fields >> 8 & 0xf : fields >> 4 & 0x3f) == 0
           : counter == Counter::Loads ? !isGfx9 && (fields >> 10 & 0x3f) == 0
                                       : false;
  switch (counter) {
  case Counter::Shared:
    return (name.starts_with("S_WAIT_DSCNT") || name.starts_with("S_WAIT_LOADCNT_DSCNT") ||
            name.starts_with("S_WAIT_STORECNT_DSCNT")) &&
           (fields & 0x3f) == 0;
  case Counter::Loads:
    return (name.starts_with("S_WAIT_LOADCNT_DSCNT") && (fields >> 8 & 0x3f) == 0) ||
           (name.starts_with("S_WAIT_LOADCNT_gfx") && fields == 0);
  case Counter::Stores:
    return (name.starts_with("S_WAIT_STORECNT_DSCNT") && (fields >> 8 & 0x3f) == 0) ||
           ((name.starts_with("S_WAIT_STORECNT_gfx") || name.starts_with("S_WAITCNT_VSCNT")) &&
            fields == 0);
  }
  return false;
}

/// Atomic operations that return something are counted as loads.
bool isAccess(llvm::StringRef name, Counter counter) {
  if (counter == Counter::Shared)
    return name.starts_with("DS_") && !name.contains("PERMUTE") && !name.contains("SWIZZLE");
  if (!name.starts_with("GLOBAL_") && !name.starts_with("BUFFER_") && !name.starts_with("FLAT_"))
    return false;
  bool isAtomic = name.contains("_ATOMIC_"), returns = name.contains("_RTN");
  return counter == Counter::Loads ? name.contains("_LOAD_") || (isAtomic && returns)
                                   : name.contains("_STORE_") || (isAtomic && !returns);
}

/// Where waves meet; the second half of a split barrier is none of its own.
bool isBarrier(llvm::StringRef name) {
  return name.starts_with("S_BARRIER") && !name.starts_with("S_BARRIER_WAIT");
}

Role roleOf(llvm::StringRef name, const llvm::MCInst &instruction, Counter counter, bool isGfx9) {
  if (isAccess(name, counter))
    return Role::Access;
  if (isWait(name, instruction, counter, isGfx9))
    return Role::Wait;
  if (isBarrier(name))
    return Role::Barrier;
  return name.starts_with("S_ENDPGM") || name.starts_with("S_BRANCH") ? Role::End : Role::None;
}

/// Behind a barrier of global memory a wave forgets what its cache has, before it loads again.
bool isOfGlobal(const MachineCode &code, const llvm::MCInstrInfo &names, size_t barrier) {
  for (size_t i = barrier + 1; i != code.instructions.size(); ++i) {
    llvm::StringRef name = names.getName(code.instructions[i].getOpcode());
    if (name.starts_with("BUFFER_GL0_INV") || name.starts_with("GLOBAL_INV"))
      return true;
    if (isAccess(name, Counter::Loads) || isBarrier(name) || name.starts_with("S_ENDPGM") ||
        code.listing[i].branchTo)
      return false;
  }
  return false;
}

bool reachesBarrierInFlight(const MachineCode &code, const llvm::TargetMachine &machine,
                            Counter counter) {
  bool isGfx9 = machine.getTargetCPU().starts_with("gfx9");
  const llvm::MCInstrInfo &names = *machine.getMCInstrInfo();
  auto role = [&](size_t i) {
    const llvm::MCInst &instruction = code.instructions[i];
    return roleOf(names.getName(instruction.getOpcode()), instruction, counter, isGfx9);
  };
  // From each access on, until there is a wait: what is behind is reached in flight.
  std::vector<bool> isReached(code.listing.size());
  std::vector<size_t> open;
  auto reach = [&](size_t i) {
    if (i < isReached.size() && !isReached[i]) {
      isReached[i] = true;
      open.push_back(i);
    }
  };
  for (size_t i = 0; i != code.listing.size(); ++i)
    if (role(i) == Role::Access)
      reach(i + 1);
  while (!open.empty()) {
    size_t i = open.back();
    open.pop_back();
    Role here = role(i);
    if (here == Role::Barrier && (counter == Counter::Shared || isOfGlobal(code, names, i)))
      return true;
    if (here == Role::Wait)
      continue;
    if (code.listing[i].branchTo)
      reach(*code.listing[i].branchTo);
    if (here != Role::End)
      reach(i + 1);
  }
  return false;
}

} // namespace

bool reachesBarrierInFlight(const MachineCode &code, const llvm::TargetMachine &machine) {
  return llvm::any_of(
      std::initializer_list<Counter>{Counter::Shared, Counter::Loads, Counter::Stores},
      [&](Counter counter) { return reachesBarrierInFlight(code, machine, counter); });
}

void keepWaitsOfReleases(llvm::Function &kernel, const TargetInfo &target) {
  for (llvm::Instruction &instruction : llvm::instructions(kernel))
    if (auto *fence = llvm::dyn_cast<llvm::FenceInst>(&instruction);
        fence && releasesToOtherBlocks(*fence)) {
      llvm::IRBuilder<> behind(fence->getNextNode());
      waitFor({.ofShared = true, .ofLoads = true, .ofStores = true}, behind, target);
    }
}

void keepWaits(llvm::Function &kernel, const TargetInfo &target) {
  for (llvm::Instruction &instruction : llvm::instructions(kernel))
    if (meets(instruction)) {
      llvm::IRBuilder<> b(&instruction);
      waitFor(waitsBefore(instruction, target), b, target);
    }
}

} // namespace kiln
