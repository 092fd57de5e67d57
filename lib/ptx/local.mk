noinst_LTLIBRARIES += lib/ptx/libptx.la
lib_ptx_libptx_la_SOURCES = \
	lib/ptx/address_resolve.c lib/ptx/address_resolve.h lib/ptx/approximate.h lib/ptx/atomic.c lib/ptx/bits.h lib/ptx/block.c lib/ptx/block.h \
	lib/ptx/body.c lib/ptx/builtin.c lib/ptx/builtin.h lib/ptx/bulk.c lib/ptx/bulk.h lib/ptx/call.c lib/ptx/cluster.c lib/ptx/cluster.h lib/ptx/content.c lib/ptx/convert.c lib/ptx/declaration.c lib/ptx/declaration.h \
	lib/ptx/dynamic_parallelism.c lib/ptx/dynamic_parallelism.h lib/ptx/encode_address.c lib/ptx/encode_arithmetic.c lib/ptx/encode_call.c \
	lib/ptx/encode_cluster.c lib/ptx/encode_compare.c lib/ptx/encode_composed.c lib/ptx/encode_control.c lib/ptx/encode_convert.c lib/ptx/encode_matrix.c lib/ptx/encode_memory.c \
	lib/ptx/encode_texture.c lib/ptx/encode_wide.c lib/ptx/expression.c lib/ptx/expression.h lib/ptx/flow.c lib/ptx/flow.h lib/ptx/grid.h lib/ptx/growth.h lib/ptx/halves.h lib/ptx/interpret.c lib/ptx/lanes.h \
	lib/ptx/lanes_find.c lib/ptx/lex.c lib/ptx/lex.h lib/ptx/link.c lib/ptx/link.h lib/ptx/liveness.c lib/ptx/liveness.h \
	lib/ptx/matrix.c lib/ptx/matrix.h lib/ptx/matrix_element.h lib/ptx/mbarrier.c lib/ptx/minifloat.c lib/ptx/minifloat.h lib/ptx/module.c lib/ptx/module.h lib/ptx/moves.c lib/ptx/moves.h lib/ptx/names.c lib/ptx/names.h \
	lib/ptx/op.c lib/ptx/operand.c lib/ptx/ops.def lib/ptx/parse.c lib/ptx/parser.c lib/ptx/parser.h lib/ptx/placement.c lib/ptx/print.c lib/ptx/ptx.h \
	lib/ptx/register.c lib/ptx/room.c lib/ptx/room.h lib/ptx/rounding.c lib/ptx/row.h lib/ptx/run.c lib/ptx/shadow.c lib/ptx/shadow.h lib/ptx/shadow_arrays.c lib/ptx/shadow_barrier.c lib/ptx/shadow_blocks.c lib/ptx/shadow_code.c lib/ptx/shadow_global.c lib/ptx/shadow_piece.c lib/ptx/shadow_shared.c lib/ptx/shadow_state.h lib/ptx/shadow_tell.c lib/ptx/source.c lib/ptx/special.c lib/ptx/stack.c \
	lib/ptx/stack.h lib/ptx/step.c lib/ptx/step.h lib/ptx/step_atomic.c lib/ptx/step_joint.c lib/ptx/step_texture.c lib/ptx/surface.c lib/ptx/texture.c lib/ptx/texture_query.c lib/ptx/texture.h lib/ptx/thread_fault.c lib/ptx/type.c lib/ptx/type.h lib/ptx/variable.c \
	lib/ptx/video.c lib/ptx/video.h lib/ptx/warp.c lib/ptx/warp_place.c lib/ptx/warp.h lib/ptx/warp_collectives.c lib/ptx/wide.c lib/ptx/wide.h \
	lib/ptx/worker_threads.c lib/ptx/worker_threads.h lib/ptx/written.c lib/ptx/written.h
lib_ptx_libptx_la_LIBADD = lib/ptx/liblanes.la -lm

# The same instructions for several processors.
LANES_SOURCES = lib/ptx/cell.h lib/ptx/direction.h lib/ptx/lane.c lib/ptx/lane_loop.h lib/ptx/lanes.c lib/ptx/lanes_matrix.c \
	lib/ptx/lanes_memory.c
LANES_CFLAGS = $(AM_CFLAGS) $(VECTOR_CFLAGS)
noinst_LTLIBRARIES += lib/ptx/liblanes.la
lib_ptx_liblanes_la_SOURCES = $(LANES_SOURCES)
lib_ptx_liblanes_la_CFLAGS = $(LANES_CFLAGS)
lib_ptx_liblanes_la_LIBADD =
if X86_LANES
noinst_LTLIBRARIES += lib/ptx/liblanes_avx2.la lib/ptx/liblanes_avx512.la
lib_ptx_liblanes_avx2_la_SOURCES = $(LANES_SOURCES)
lib_ptx_liblanes_avx2_la_CPPFLAGS = $(AM_CPPFLAGS) -DCX_PTX_LANES_KIND=avx2
lib_ptx_liblanes_avx2_la_CFLAGS = $(LANES_CFLAGS) -mavx2 -mfma
lib_ptx_liblanes_avx512_la_SOURCES = $(LANES_SOURCES)
lib_ptx_liblanes_avx512_la_CPPFLAGS = $(AM_CPPFLAGS) -DCX_PTX_LANES_KIND=avx512
lib_ptx_liblanes_avx512_la_CFLAGS = $(LANES_CFLAGS) $(AVX512_CFLAGS)
lib_ptx_libptx_la_LIBADD += lib/ptx/liblanes_avx2.la lib/ptx/liblanes_avx512.la
endif
