#include "compiler/Target/NVIDIA/PtxListing.h"
#include <gtest/gtest.h>

using namespace kiln;

namespace {

TEST(PtxListing, HasInstructionsAndNoDirectives) {
  auto listing = listPtx(R"(
.version 8.3
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 memory[];
	// .globl kernel
.visible .entry kernel(
	.param .u64 .ptr .global .align 16 kernel_param_0,
	.param .u32 kernel_param_1
)
.reqntid 128, 1, 1
{
	.reg .pred 	%p<3>;
	.reg .b32 	%r<9>;
	.loc	1 7 0
$L__func_begin0:
	ld.param.b64 	%rd1, [kernel_param_0];
	mov.u32 	%r1, 0; // a comment; with a semicolon
$L__BB0_1:                              // the loop
	.loc	1 9 3
	// begin inline asm
	cp.async.cg.shared.global [ %r2 + 0 ], [ %rd1 + 0 ], 16;
	// end inline asm
	cp.async.wait_group 2;
	bar.sync 	0;
	ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r3, %r4, %r5, %r6}, [%r7];
	mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2}, {%r3},
		{%r4}, {%f1, %f2};
	@!%p1 bra 	$L__BB0_1;
	bra.uni 	$L__BB0_2;
$L__BB0_2:
	st.global.b32 	[%rd1], %r1;
	ret;
}
	.section	.debug_abbrev
	{
.b8 1
	}
)");
  ASSERT_EQ(listing.size(), 11u);
  std::vector<ListedKind> kinds;
  for (const ListedInstruction &one : listing)
    kinds.push_back(one.kind);
  EXPECT_EQ(kinds, (std::vector<ListedKind>{
                       ListedKind::Other, ListedKind::Other, ListedKind::Global, ListedKind::Wait,
                       ListedKind::Wait, ListedKind::Shared, ListedKind::Matrix, ListedKind::Other,
                       ListedKind::Other, ListedKind::Global, ListedKind::Other}));
  EXPECT_EQ(listing[7].branchTo, 2u);
  EXPECT_EQ(listing[8].branchTo, 9u);
  auto loop = findMainLoop(listing);
  ASSERT_TRUE(loop);
  EXPECT_EQ(loop->instructions, 6u);
  EXPECT_FALSE(loop->isMachineCode);
}

TEST(PtxListing, TakesTheNearestLabelOfAName) {
  auto listing = listPtx("{ .reg .pred p; WAIT: mbarrier.test_wait.b64 p, [a]; @!p bra WAIT; }\n"
                         "add.s32 a, b, c;\n"
                         "{ .reg .pred p; WAIT: mbarrier.test_wait.b64 p, [b]; @!p bra WAIT; }\n");
  ASSERT_EQ(listing.size(), 5u);
  EXPECT_EQ(listing[1].branchTo, 0u);
  EXPECT_EQ(listing[4].branchTo, 3u);
}

TEST(PtxListing, ReadsAnything) {
  EXPECT_TRUE(listPtx("").empty());
  EXPECT_TRUE(listPtx("no end").empty());
  EXPECT_EQ(listPtx("bra nowhere;")[0].branchTo, std::nullopt);
  EXPECT_TRUE(listPtx(";;:;").size() <= 2);
}

} // namespace
