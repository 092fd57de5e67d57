# Each call passes tests/faults/retried.c, which lets it lack host memory on demand.
EMU_LIBS = tests/emu/libfixture.la tests/support/libsupport.la tests/faults/libretried.la lib/emu/libemu.la \
	tests/faults/libretried.la lib/driver/libdriver.la lib/base/libbase.la $(CHECK_LIBS)
tests/emu/checks_% tests/emu/check_ipc_forged$(EXEEXT): private LDFLAGS += -Wl,@tests/faults/retried.wraps
check_LTLIBRARIES += tests/emu/libfixture.la
tests_emu_libfixture_la_SOURCES = tests/emu/graph_fixture.c tests/emu/graph_fixture.h \
	tests/emu/work_fixture.c tests/emu/work_fixture.h
dist_check_SCRIPTS += tests/emu/schedules.sh
TESTS += tests/emu/schedules.sh

# Fat binaries of nvcc
check_PROGRAMS += tests/emu/load_image
tests_emu_load_image_SOURCES = tests/emu/load_image.c
tests_emu_load_image_LDADD = lib/emu/libemu.la lib/driver/libdriver.la lib/base/libbase.la
dist_check_SCRIPTS += tests/emu/nvcc_images.sh
TESTS += tests/emu/nvcc_images.sh

# streams, events, and the work in them
EMU_WORK = tests/emu/check_array.c tests/emu/check_callback.c tests/emu/check_copy.c tests/emu/check_copy_batch.c tests/emu/check_copy_region.c \
	tests/emu/check_discard.c \
	tests/emu/check_event.c tests/emu/check_fault.c tests/emu/check_fill.c tests/emu/check_lazy.c tests/emu/check_order.c \
	tests/emu/check_ordered.c tests/emu/check_random_schedule.c tests/emu/check_refusal.c tests/emu/check_schedule.c tests/emu/check_sticky.c \
	tests/emu/check_stream.c tests/emu/check_stress.c tests/emu/check_value_op.c
check_PROGRAMS += tests/emu/checks_work
CHECK_FILES += $(EMU_WORK)
$(EMU_WORK:.c=$(EXEEXT)): tests/emu/checks_work$(EXEEXT) ; $(LINK_CHECK)
tests_emu_checks_work_SOURCES = $(EMU_WORK)
tests_emu_checks_work_LDADD = $(EMU_LIBS)

# life, devices, contexts and their stacks, primaries, queries
EMU_DEVICE = tests/emu/check_context.c tests/emu/check_context_bytes.c tests/emu/check_device.c tests/emu/check_error_log.c \
	tests/emu/check_gpu.c tests/emu/check_green.c tests/emu/check_hint.c tests/emu/check_life.c tests/emu/check_limit.c \
	tests/emu/check_loading.c tests/emu/check_peer.c tests/emu/check_primary.c tests/emu/check_query.c tests/emu/check_stack.c \
	tests/emu/check_hazard.c tests/emu/check_touched.c
check_PROGRAMS += tests/emu/checks_device
CHECK_FILES += $(EMU_DEVICE)
$(EMU_DEVICE:.c=$(EXEEXT)): tests/emu/checks_device$(EXEEXT) ; $(LINK_CHECK)
tests_emu_checks_device_SOURCES = $(EMU_DEVICE) tests/emu/gpus.h tests/emu/kernels.h
tests_emu_checks_device_LDADD = $(EMU_LIBS)

# memory
EMU_MEMORY = tests/emu/check_arena.c tests/emu/check_memory.c tests/emu/check_virtual_memory.c tests/emu/check_mapped_work.c \
	tests/emu/check_shareable.c tests/emu/check_pool.c tests/emu/check_pool_place.c tests/emu/check_host_memory.c \
	tests/emu/check_pointer.c tests/emu/check_ended_context.c tests/emu/check_ended_memory.c tests/emu/check_managed_variable.c \
	tests/emu/check_shared_memory.c
check_PROGRAMS += tests/emu/checks_memory
CHECK_FILES += $(EMU_MEMORY)
$(EMU_MEMORY:.c=$(EXEEXT)): tests/emu/checks_memory$(EXEEXT) ; $(LINK_CHECK)
tests_emu_checks_memory_SOURCES = $(EMU_MEMORY) tests/emu/ended_memory.h tests/emu/ended_memory_kinds.c \
	tests/emu/ended_memory_works.c tests/emu/file_passing.h tests/emu/kernels.h tests/emu/memory_fixture.c \
	tests/emu/memory_fixture.h tests/emu/partner.h tests/emu/virtual_memory.h
tests_emu_checks_memory_LDADD = $(EMU_LIBS)

# captures and graphs
EMU_GRAPH = tests/emu/check_capture.c tests/emu/check_capture_join.c tests/emu/check_capture_rules.c tests/emu/check_condition.c \
	tests/emu/check_graph.c tests/emu/check_graph_copy.c tests/emu/check_graph_exec.c tests/emu/check_graph_identity.c \
	tests/emu/check_graph_memory.c tests/emu/check_graph_node.c tests/emu/check_graph_stress.c tests/emu/check_graph_update.c \
	tests/emu/check_user_object.c
check_PROGRAMS += tests/emu/checks_graph
CHECK_FILES += $(EMU_GRAPH)
$(EMU_GRAPH:.c=$(EXEEXT)): tests/emu/checks_graph$(EXEEXT) ; $(LINK_CHECK)
tests_emu_checks_graph_SOURCES = $(EMU_GRAPH) tests/emu/kernels.h
tests_emu_checks_graph_LDADD = $(EMU_LIBS)

# modules, kernels
EMU_MODULE = tests/emu/check_child_grid.c tests/emu/check_cluster.c tests/emu/check_culprit.c tests/emu/check_device_calls.c tests/emu/check_endless.c \
	tests/emu/check_fat.c tests/emu/check_jit.c tests/emu/check_kernel.c tests/emu/check_kernel_query.c tests/emu/check_launch_attribute.c \
	tests/emu/check_link.c \
	tests/emu/check_link_input.c tests/emu/check_old_launch.c tests/emu/check_parts.c \
	tests/emu/check_sweep.c tests/emu/check_texture.c tests/emu/check_texture_reference.c
check_PROGRAMS += tests/emu/checks_module
CHECK_FILES += $(EMU_MODULE)
$(EMU_MODULE:.c=$(EXEEXT)): tests/emu/checks_module$(EXEEXT) ; $(LINK_CHECK)
tests_emu_checks_module_SOURCES = $(EMU_MODULE) tests/emu/kernels.h tests/support/random.h
tests_emu_checks_module_LDADD = $(EMU_LIBS)

# several processes. check_ipc_forged starts itself again, as another program.
EMU_PROCESS = tests/emu/check_file_hostile.c tests/emu/check_ipc.c tests/emu/check_ipc_event.c tests/emu/check_ipc_hostile.c \
	tests/emu/check_pool_share.c
check_PROGRAMS += tests/emu/checks_process
CHECK_FILES += $(EMU_PROCESS)
$(EMU_PROCESS:.c=$(EXEEXT)): tests/emu/checks_process$(EXEEXT) ; $(LINK_CHECK)
tests_emu_checks_process_SOURCES = $(EMU_PROCESS) tests/emu/file_passing.h tests/emu/footprint.h tests/emu/gpus.h \
	tests/emu/hostile.c tests/emu/hostile.h tests/emu/partner.h
tests_emu_checks_process_LDADD = $(EMU_LIBS)
check_PROGRAMS += tests/emu/check_ipc_forged
TESTS += tests/emu/check_ipc_forged
tests_emu_check_ipc_forged_SOURCES = tests/emu/check_ipc_forged.c tests/emu/file_passing.h tests/emu/footprint.h \
	tests/emu/gpus.h tests/emu/partner.h
tests_emu_check_ipc_forged_LDADD = $(EMU_LIBS)

# PTX by itself
EXTRA_DIST += \
	tests/ptx/corpus/clusters.ptx tests/ptx/corpus/forms.ptx tests/ptx/corpus/histogram.ptx tests/ptx/corpus/matrix_product.ptx tests/ptx/corpus/next.ptx \
	tests/ptx/corpus/reduce.ptx tests/ptx/corpus/saxpy.ptx tests/ptx/corpus/textures.ptx tests/ptx/corpus/vector_add.ptx tests/ptx/corpus/warps.ptx
PTX_LIBS = tests/support/libsupport.la lib/ptx/libptx.la lib/base/libbase.la $(CHECK_LIBS)
PTX_ROWS = tests/ptx/edge_rows.h tests/ptx/edges.h tests/ptx/exact.c tests/ptx/exact.h tests/ptx/rows_float.c \
	tests/ptx/rows_half.c tests/ptx/rows_integer.c

# the interpreter alone
PTX_FILES = tests/ptx/check_damage.c tests/ptx/check_hazards.c tests/ptx/check_instructions.c tests/ptx/check_liveness.c tests/ptx/check_flow.c \
	tests/ptx/check_access.c tests/ptx/check_cores.c tests/ptx/check_clusters.c tests/ptx/check_texture.c tests/ptx/check_wide.c tests/ptx/check_halves.c tests/ptx/check_approximate.c tests/ptx/check_judged.c \
	tests/ptx/check_refused.c tests/ptx/check_list.c
check_PROGRAMS += tests/ptx/checks_ptx
CHECK_FILES += $(PTX_FILES)
$(PTX_FILES:.c=$(EXEEXT)): tests/ptx/checks_ptx$(EXEEXT) ; $(LINK_CHECK)
tests_ptx_checks_ptx_SOURCES = $(PTX_FILES) $(PTX_ROWS) tests/ptx/fuzz_ptx.c tests/ptx/fuzz_ptx.h tests/ptx/judged.def tests/ptx/list.def \
	tests/support/random.h
tests_ptx_checks_ptx_LDADD = $(PTX_LIBS) -lm

# the interpreter in the embedded driver
PTX_DRIVER = tests/ptx/check_edges_integer.c tests/ptx/check_edges_float.c tests/ptx/check_edges_half.c \
	tests/ptx/check_lockstep.c tests/ptx/check_texts.c tests/ptx/check_builtins.c tests/ptx/check_forms.c \
	tests/ptx/check_async.c tests/ptx/check_composed.c tests/ptx/check_grammar.c tests/ptx/check_matrix.c
check_PROGRAMS += tests/ptx/checks_driver
CHECK_FILES += $(PTX_DRIVER)
$(PTX_DRIVER:.c=$(EXEEXT)): tests/ptx/checks_driver$(EXEEXT) ; $(LINK_CHECK)
tests_ptx_checks_driver_SOURCES = $(PTX_DRIVER) $(PTX_ROWS) tests/ptx/edges.c tests/ptx/mma_shapes.def tests/ptx/texts.c \
	tests/ptx/texts.h
tests_ptx_checks_driver_LDADD = $(EMU_LIBS) -lm
dist_check_SCRIPTS += tests/ptx/assembled.sh
TESTS += tests/ptx/assembled.sh
EXTRA_DIST += tests/ptx/edges_integer.def tests/ptx/edges_float.def tests/ptx/edges_half.def tests/ptx/lockstep.cu tests/ptx/lockstep.ptx

# It makes the programs of --seed by hand, too.
check_PROGRAMS += tests/ptx/check_random
TESTS += tests/ptx/check_random
tests_ptx_check_random_SOURCES = tests/ptx/check_random.c tests/ptx/random/evaluate.c tests/ptx/random/make.c \
	tests/ptx/random/program.h tests/ptx/random/rows.c tests/ptx/random/text.c $(PTX_ROWS) tests/support/random.h
tests_ptx_check_random_LDADD = $(PTX_LIBS)

# kernels in CUDA C: compile.sh makes the PTX
check_PROGRAMS += tests/ptx/check_kernels
TESTS += tests/ptx/check_kernels
tests_ptx_check_kernels_SOURCES = $(KERNEL_TESTS) tests/ptx/kernels/run.c
KERNEL_TESTS = tests/ptx/check_kernels.c tests/ptx/kernels/run.h tests/ptx/exact.c tests/ptx/exact.h tests/support/random.h \
	tests/ptx/kernels/values.c tests/ptx/kernels/atomics.c tests/ptx/kernels/calls.c tests/ptx/kernels/cluster.c tests/ptx/kernels/graph.c \
	tests/ptx/kernels/hash.c \
	tests/ptx/kernels/histogram.c tests/ptx/kernels/linear.c tests/ptx/kernels/math.c tests/ptx/kernels/matrix.c \
	tests/ptx/kernels/memory.c tests/ptx/kernels/modern.c tests/ptx/kernels/output.c tests/ptx/kernels/pairs.c tests/ptx/kernels/physics.c \
	tests/ptx/kernels/reduce.c tests/ptx/kernels/scan.c tests/ptx/kernels/sort.c tests/ptx/kernels/stencil.c \
	tests/ptx/kernels/text.c tests/ptx/kernels/types.c tests/ptx/kernels/wide.c
tests_ptx_check_kernels_LDADD = $(PTX_LIBS) -lm

# The same kernels on a libcuda, for a machine with a GPU; tests/ptx/driver.sh runs it on the stand-ins.
check_PROGRAMS += tests/ptx/kernels_on_driver
tests_ptx_kernels_on_driver_SOURCES = $(KERNEL_TESTS) tests/ptx/kernels/run_driver.c
tests_ptx_kernels_on_driver_LDADD = tests/support/libsupport.la lib/driver/libdriver.la lib/base/libbase.la $(CHECK_LIBS) -lm
dist_check_SCRIPTS += tests/ptx/driver.sh
TESTS += tests/ptx/driver.sh
EXTRA_DIST += \
	tests/ptx/kernels/clang.h tests/ptx/kernels/compile.sh tests/ptx/kernels/atomics.cu tests/ptx/kernels/calls.cu \
	tests/ptx/kernels/pairs.cu tests/ptx/kernels/cluster.cu tests/ptx/kernels/graph.cu tests/ptx/kernels/hash.cu \
	tests/ptx/kernels/histogram.cu tests/ptx/kernels/linear.cu tests/ptx/kernels/math.cu tests/ptx/kernels/matrix.cu \
	tests/ptx/kernels/memory.cu tests/ptx/kernels/modern.cu tests/ptx/kernels/output.cu tests/ptx/kernels/physics.cu \
	tests/ptx/kernels/reduce.cu tests/ptx/kernels/scan.cu tests/ptx/kernels/sort.cu tests/ptx/kernels/stencil.cu \
	tests/ptx/kernels/text.cu tests/ptx/kernels/types.cu tests/ptx/kernels/wide.cu
# What compile.sh made of them: each kernel for a few targets.
KERNEL_PTX = \
	tests/ptx/kernels/atomics.plain.ptx tests/ptx/kernels/atomics.sm_75.ptx tests/ptx/kernels/calls.clang.ptx \
	tests/ptx/kernels/calls.debug.ptx tests/ptx/kernels/calls.sm_75.ptx tests/ptx/kernels/cluster.plain.ptx \
	tests/ptx/kernels/cluster.sm_90.ptx tests/ptx/kernels/graph.clang.ptx tests/ptx/kernels/graph.plain.ptx \
	tests/ptx/kernels/graph.sm_75.ptx tests/ptx/kernels/hash.plain.ptx tests/ptx/kernels/hash.sm_75.ptx \
	tests/ptx/kernels/histogram.clang.ptx tests/ptx/kernels/histogram.plain.ptx tests/ptx/kernels/histogram.sm_75.ptx \
	tests/ptx/kernels/linear.clang.ptx tests/ptx/kernels/linear.debug.ptx tests/ptx/kernels/linear.sm_75.ptx \
	tests/ptx/kernels/math.plain.ptx tests/ptx/kernels/math.sm_75.ptx tests/ptx/kernels/matrix.clang.ptx \
	tests/ptx/kernels/matrix.plain.ptx tests/ptx/kernels/matrix.sm_75.ptx tests/ptx/kernels/memory.plain.ptx \
	tests/ptx/kernels/memory.sm_75.ptx tests/ptx/kernels/modern.plain.ptx tests/ptx/kernels/modern.sm_80.ptx \
	tests/ptx/kernels/output.plain.ptx tests/ptx/kernels/output.sm_75.ptx tests/ptx/kernels/pairs.plain.ptx \
	tests/ptx/kernels/pairs.sm_90.ptx tests/ptx/kernels/physics.plain.ptx tests/ptx/kernels/physics.sm_75.ptx \
	tests/ptx/kernels/reduce.plain.ptx tests/ptx/kernels/reduce.sm_75.ptx tests/ptx/kernels/scan.clang.ptx \
	tests/ptx/kernels/scan.debug.ptx tests/ptx/kernels/scan.sm_75.ptx tests/ptx/kernels/sort.clang.ptx \
	tests/ptx/kernels/sort.plain.ptx tests/ptx/kernels/sort.sm_75.ptx tests/ptx/kernels/stencil.clang.ptx \
	tests/ptx/kernels/stencil.plain.ptx tests/ptx/kernels/stencil.sm_75.ptx tests/ptx/kernels/text.clang.ptx \
	tests/ptx/kernels/text.plain.ptx tests/ptx/kernels/text.sm_75.ptx tests/ptx/kernels/types.plain.ptx \
	tests/ptx/kernels/types.sm_75.ptx tests/ptx/kernels/wide.plain.ptx tests/ptx/kernels/wide.sm_75.ptx
UNPACKED += $(KERNEL_PTX)
dist_check_SCRIPTS += tests/ptx/recompiled.sh
TESTS += tests/ptx/recompiled.sh
