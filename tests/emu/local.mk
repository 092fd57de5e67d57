# Each call passes tests/faults/retried.c, which lets it lack host memory on demand.
EMU_LIBS = tests/emu/libfixture.la tests/support/libsupport.la tests/faults/libretried.la lib/emu/libemu.la \
	tests/faults/libretried.la lib/driver/libdriver.la lib/base/libbase.la $(CHECK_LIBS)
tests/emu/check_%: private LDFLAGS += -Wl,@tests/faults/retried.wraps
EMU_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/support
EMU_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
check_LTLIBRARIES += tests/emu/libfixture.la
tests_emu_libfixture_la_SOURCES = tests/emu/graph_fixture.c tests/emu/graph_fixture.h \
	tests/emu/work_fixture.c tests/emu/work_fixture.h
tests_emu_libfixture_la_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_libfixture_la_CFLAGS = $(EMU_CFLAGS)

# work
EMU_WORK_TESTS = \
	tests/emu/check_callback tests/emu/check_copy tests/emu/check_copy_region \
	tests/emu/check_event tests/emu/check_fault tests/emu/check_fill tests/emu/check_lazy tests/emu/check_order \
	tests/emu/check_ordered tests/emu/check_random_schedule tests/emu/check_schedule tests/emu/check_sticky \
	tests/emu/check_stream tests/emu/check_stress
EMU_WORK_SH = tests/emu/schedules.sh
check_PROGRAMS += $(EMU_WORK_TESTS)
dist_check_SCRIPTS += $(EMU_WORK_SH)
TESTS += $(EMU_WORK_TESTS) $(EMU_WORK_SH)
tests_emu_check_callback_SOURCES = tests/emu/check_callback.c
tests_emu_check_callback_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_callback_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_callback_LDADD = $(EMU_LIBS)
tests_emu_check_copy_SOURCES = tests/emu/check_copy.c
tests_emu_check_copy_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_copy_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_copy_LDADD = $(EMU_LIBS)
tests_emu_check_copy_region_SOURCES = tests/emu/check_copy_region.c
tests_emu_check_copy_region_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_copy_region_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_copy_region_LDADD = $(EMU_LIBS)
tests_emu_check_event_SOURCES = tests/emu/check_event.c
tests_emu_check_event_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_event_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_event_LDADD = $(EMU_LIBS)
tests_emu_check_fill_SOURCES = tests/emu/check_fill.c
tests_emu_check_fill_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_fill_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_fill_LDADD = $(EMU_LIBS)
tests_emu_check_schedule_SOURCES = tests/emu/check_schedule.c
tests_emu_check_schedule_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_schedule_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_schedule_LDADD = $(EMU_LIBS)
tests_emu_check_stream_SOURCES = tests/emu/check_stream.c
tests_emu_check_stream_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_stream_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_stream_LDADD = $(EMU_LIBS)
tests_emu_check_order_SOURCES = tests/emu/check_order.c
tests_emu_check_order_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_order_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_order_LDADD = $(EMU_LIBS)
tests_emu_check_stress_SOURCES = tests/emu/check_stress.c
tests_emu_check_stress_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_stress_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_stress_LDADD = $(EMU_LIBS)
tests_emu_check_lazy_SOURCES = tests/emu/check_lazy.c
tests_emu_check_lazy_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_lazy_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_lazy_LDADD = $(EMU_LIBS)
tests_emu_check_random_schedule_SOURCES = tests/emu/check_random_schedule.c
tests_emu_check_random_schedule_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_random_schedule_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_random_schedule_LDADD = $(EMU_LIBS)
tests_emu_check_fault_SOURCES = tests/emu/check_fault.c
tests_emu_check_fault_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_fault_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_fault_LDADD = $(EMU_LIBS)
tests_emu_check_sticky_SOURCES = tests/emu/check_sticky.c
tests_emu_check_sticky_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_sticky_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_sticky_LDADD = $(EMU_LIBS)
tests_emu_check_ordered_SOURCES = tests/emu/check_ordered.c
tests_emu_check_ordered_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_ordered_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_ordered_LDADD = $(EMU_LIBS)

# calls of graphs, copies and devices that programs make
check_PROGRAMS += tests/emu/check_copy_batch
TESTS += tests/emu/check_copy_batch
tests_emu_check_copy_batch_SOURCES = tests/emu/check_copy_batch.c
tests_emu_check_copy_batch_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_copy_batch_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_copy_batch_LDADD = $(EMU_LIBS)
check_PROGRAMS += tests/emu/check_old_launch
TESTS += tests/emu/check_old_launch
tests_emu_check_old_launch_SOURCES = tests/emu/check_old_launch.c tests/emu/kernels.h
tests_emu_check_old_launch_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_old_launch_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_old_launch_LDADD = $(EMU_LIBS)

check_PROGRAMS += tests/emu/check_context_bytes
TESTS += tests/emu/check_context_bytes
tests_emu_check_context_bytes_SOURCES = tests/emu/check_context_bytes.c
tests_emu_check_context_bytes_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_context_bytes_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_context_bytes_LDADD = $(EMU_LIBS)
check_PROGRAMS += tests/emu/check_shared_memory
TESTS += tests/emu/check_shared_memory
tests_emu_check_shared_memory_SOURCES = tests/emu/check_shared_memory.c
tests_emu_check_shared_memory_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_shared_memory_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_shared_memory_LDADD = $(EMU_LIBS)

check_PROGRAMS += tests/emu/check_limit
TESTS += tests/emu/check_limit
tests_emu_check_limit_SOURCES = tests/emu/check_limit.c
tests_emu_check_limit_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_limit_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_limit_LDADD = $(EMU_LIBS)

check_PROGRAMS += tests/emu/check_managed_variable
TESTS += tests/emu/check_managed_variable
tests_emu_check_managed_variable_SOURCES = tests/emu/check_managed_variable.c
tests_emu_check_managed_variable_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_managed_variable_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_managed_variable_LDADD = $(EMU_LIBS)

check_PROGRAMS += tests/emu/check_loading
TESTS += tests/emu/check_loading
tests_emu_check_loading_SOURCES = tests/emu/check_loading.c tests/emu/kernels.h
tests_emu_check_loading_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_loading_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_loading_LDADD = $(EMU_LIBS)

check_PROGRAMS += tests/emu/check_touched
TESTS += tests/emu/check_touched
tests_emu_check_touched_SOURCES = tests/emu/check_touched.c
tests_emu_check_touched_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_touched_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_touched_LDADD = $(EMU_LIBS)
check_PROGRAMS += tests/emu/check_user_object
TESTS += tests/emu/check_user_object
tests_emu_check_user_object_SOURCES = tests/emu/check_user_object.c
tests_emu_check_user_object_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_user_object_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_user_object_LDADD = $(EMU_LIBS)
check_PROGRAMS += tests/emu/check_error_log
TESTS += tests/emu/check_error_log
tests_emu_check_error_log_SOURCES = tests/emu/check_error_log.c
tests_emu_check_error_log_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_error_log_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_error_log_LDADD = $(EMU_LIBS)
check_PROGRAMS += tests/emu/check_graph_memory
TESTS += tests/emu/check_graph_memory
tests_emu_check_graph_memory_SOURCES = tests/emu/check_graph_memory.c
tests_emu_check_graph_memory_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_graph_memory_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_graph_memory_LDADD = $(EMU_LIBS)
check_PROGRAMS += tests/emu/check_condition
TESTS += tests/emu/check_condition
tests_emu_check_condition_SOURCES = tests/emu/check_condition.c
tests_emu_check_condition_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_condition_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_condition_LDADD = $(EMU_LIBS)
check_PROGRAMS += tests/emu/check_graph_identity
TESTS += tests/emu/check_graph_identity
tests_emu_check_graph_identity_SOURCES = tests/emu/check_graph_identity.c tests/emu/kernels.h
tests_emu_check_graph_identity_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_graph_identity_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_graph_identity_LDADD = $(EMU_LIBS)

# the core: life, contexts, stacks, primaries, queries, devices, peers
EMU_CORE_TESTS = \
	tests/emu/check_context tests/emu/check_device tests/emu/check_life tests/emu/check_peer \
	tests/emu/check_primary tests/emu/check_query tests/emu/check_stack
check_PROGRAMS += $(EMU_CORE_TESTS)
TESTS += $(EMU_CORE_TESTS)
tests_emu_check_context_SOURCES = tests/emu/check_context.c tests/emu/gpus.h
tests_emu_check_context_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_context_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_context_LDADD = $(EMU_LIBS)
check_PROGRAMS += tests/emu/check_gpu
TESTS += tests/emu/check_gpu
tests_emu_check_gpu_SOURCES = tests/emu/check_gpu.c tests/emu/gpus.h tests/emu/kernels.h
tests_emu_check_gpu_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_gpu_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_gpu_LDADD = $(EMU_LIBS)
check_PROGRAMS += tests/emu/check_green tests/emu/check_ipc
TESTS += tests/emu/check_green tests/emu/check_ipc
tests_emu_check_green_SOURCES = tests/emu/check_green.c
tests_emu_check_green_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_green_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_green_LDADD = $(EMU_LIBS)
tests_emu_check_ipc_SOURCES = tests/emu/check_ipc.c tests/emu/gpus.h tests/emu/partner.h
tests_emu_check_ipc_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_ipc_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_ipc_LDADD = $(EMU_LIBS)
check_PROGRAMS += tests/emu/check_ipc_event tests/emu/check_pool_share
TESTS += tests/emu/check_ipc_event tests/emu/check_pool_share
check_PROGRAMS += tests/emu/check_file_hostile tests/emu/check_ipc_forged tests/emu/check_ipc_hostile
TESTS += tests/emu/check_file_hostile tests/emu/check_ipc_forged tests/emu/check_ipc_hostile
HOSTILE_SOURCES = tests/emu/hostile.c tests/emu/hostile.h tests/emu/footprint.h tests/emu/gpus.h tests/emu/partner.h
tests_emu_check_file_hostile_SOURCES = tests/emu/check_file_hostile.c tests/emu/file_passing.h $(HOSTILE_SOURCES)
tests_emu_check_file_hostile_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_file_hostile_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_file_hostile_LDADD = $(EMU_LIBS)
tests_emu_check_ipc_forged_SOURCES = tests/emu/check_ipc_forged.c tests/emu/file_passing.h tests/emu/footprint.h tests/emu/gpus.h tests/emu/partner.h
tests_emu_check_ipc_forged_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_ipc_forged_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_ipc_forged_LDADD = $(EMU_LIBS)
tests_emu_check_ipc_hostile_SOURCES = tests/emu/check_ipc_hostile.c $(HOSTILE_SOURCES)
tests_emu_check_ipc_hostile_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_ipc_hostile_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_ipc_hostile_LDADD = $(EMU_LIBS)
tests_emu_check_pool_share_SOURCES = tests/emu/check_pool_share.c tests/emu/file_passing.h tests/emu/gpus.h tests/emu/partner.h
tests_emu_check_pool_share_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_pool_share_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_pool_share_LDADD = $(EMU_LIBS)
tests_emu_check_ipc_event_SOURCES = tests/emu/check_ipc_event.c tests/emu/gpus.h tests/emu/partner.h
tests_emu_check_ipc_event_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_ipc_event_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_ipc_event_LDADD = $(EMU_LIBS)
tests_emu_check_device_SOURCES = tests/emu/check_device.c tests/emu/gpus.h
tests_emu_check_device_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_device_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_device_LDADD = $(EMU_LIBS)
tests_emu_check_life_SOURCES = tests/emu/check_life.c tests/emu/gpus.h
tests_emu_check_life_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_life_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_life_LDADD = $(EMU_LIBS)
tests_emu_check_peer_SOURCES = tests/emu/check_peer.c tests/emu/gpus.h
tests_emu_check_peer_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_peer_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_peer_LDADD = $(EMU_LIBS)
tests_emu_check_primary_SOURCES = tests/emu/check_primary.c tests/emu/gpus.h
tests_emu_check_primary_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_primary_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_primary_LDADD = $(EMU_LIBS)
tests_emu_check_query_SOURCES = tests/emu/check_query.c tests/emu/gpus.h
tests_emu_check_query_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_query_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_query_LDADD = $(EMU_LIBS)
tests_emu_check_stack_SOURCES = tests/emu/check_stack.c tests/emu/gpus.h
tests_emu_check_stack_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_stack_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_stack_LDADD = $(EMU_LIBS)

# memory
EMU_MEMORY_SOURCES = tests/emu/memory_fixture.c tests/emu/memory_fixture.h
EMU_MEMORY_TESTS = \
	tests/emu/check_arena tests/emu/check_memory tests/emu/check_virtual_memory tests/emu/check_mapped_work tests/emu/check_shareable tests/emu/check_pool tests/emu/check_pool_place tests/emu/check_host_memory \
	tests/emu/check_pointer
check_PROGRAMS += $(EMU_MEMORY_TESTS)
TESTS += $(EMU_MEMORY_TESTS)
tests_emu_check_arena_SOURCES = tests/emu/check_arena.c $(EMU_MEMORY_SOURCES)
tests_emu_check_arena_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_arena_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_arena_LDADD = $(EMU_LIBS)
tests_emu_check_memory_SOURCES = tests/emu/check_memory.c $(EMU_MEMORY_SOURCES)
tests_emu_check_memory_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_memory_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_memory_LDADD = $(EMU_LIBS)
tests_emu_check_pool_place_SOURCES = tests/emu/check_pool_place.c $(EMU_MEMORY_SOURCES)
tests_emu_check_pool_place_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_pool_place_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_pool_place_LDADD = $(EMU_LIBS)
tests_emu_check_pool_SOURCES = tests/emu/check_pool.c $(EMU_MEMORY_SOURCES)
tests_emu_check_pool_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_pool_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_pool_LDADD = $(EMU_LIBS)
tests_emu_check_shareable_SOURCES = tests/emu/check_shareable.c tests/emu/file_passing.h $(EMU_MEMORY_SOURCES)
tests_emu_check_shareable_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_shareable_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_shareable_LDADD = $(EMU_LIBS)
tests_emu_check_virtual_memory_SOURCES = tests/emu/check_virtual_memory.c tests/emu/virtual_memory.h $(EMU_MEMORY_SOURCES)
tests_emu_check_virtual_memory_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_virtual_memory_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_virtual_memory_LDADD = $(EMU_LIBS)
tests_emu_check_mapped_work_SOURCES = tests/emu/check_mapped_work.c tests/emu/virtual_memory.h $(EMU_MEMORY_SOURCES)
tests_emu_check_mapped_work_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_mapped_work_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_mapped_work_LDADD = $(EMU_LIBS)
tests_emu_check_host_memory_SOURCES = tests/emu/check_host_memory.c $(EMU_MEMORY_SOURCES)
tests_emu_check_host_memory_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_host_memory_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_host_memory_LDADD = $(EMU_LIBS)
tests_emu_check_pointer_SOURCES = tests/emu/check_pointer.c $(EMU_MEMORY_SOURCES)
tests_emu_check_pointer_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_pointer_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_pointer_LDADD = $(EMU_LIBS)

# capture and graphs
EMU_GRAPH_TESTS = \
	tests/emu/check_capture tests/emu/check_capture_join tests/emu/check_capture_rules \
	tests/emu/check_graph tests/emu/check_graph_copy tests/emu/check_graph_exec \
	tests/emu/check_graph_node tests/emu/check_graph_stress tests/emu/check_graph_update
check_PROGRAMS += $(EMU_GRAPH_TESTS)
TESTS += $(EMU_GRAPH_TESTS)
tests_emu_check_capture_SOURCES = tests/emu/check_capture.c
tests_emu_check_capture_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_capture_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_capture_LDADD = $(EMU_LIBS)
tests_emu_check_capture_rules_SOURCES = tests/emu/check_capture_rules.c
tests_emu_check_capture_rules_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_capture_rules_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_capture_rules_LDADD = $(EMU_LIBS)
tests_emu_check_graph_SOURCES = tests/emu/check_graph.c
tests_emu_check_graph_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_graph_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_graph_LDADD = $(EMU_LIBS)
tests_emu_check_graph_exec_SOURCES = tests/emu/check_graph_exec.c
tests_emu_check_graph_exec_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_graph_exec_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_graph_exec_LDADD = $(EMU_LIBS)
tests_emu_check_graph_stress_SOURCES = tests/emu/check_graph_stress.c
tests_emu_check_graph_stress_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_graph_stress_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_graph_stress_LDADD = $(EMU_LIBS)
tests_emu_check_capture_join_SOURCES = tests/emu/check_capture_join.c
tests_emu_check_capture_join_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_capture_join_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_capture_join_LDADD = $(EMU_LIBS)
tests_emu_check_graph_update_SOURCES = tests/emu/check_graph_update.c
tests_emu_check_graph_update_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_graph_update_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_graph_update_LDADD = $(EMU_LIBS)
tests_emu_check_graph_node_SOURCES = tests/emu/check_graph_node.c
tests_emu_check_graph_node_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_graph_node_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_graph_node_LDADD = $(EMU_LIBS)
tests_emu_check_graph_copy_SOURCES = tests/emu/check_graph_copy.c
tests_emu_check_graph_copy_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_graph_copy_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_graph_copy_LDADD = $(EMU_LIBS)

# modules, kernels
check_PROGRAMS += tests/emu/check_kernel
TESTS += tests/emu/check_kernel
tests_emu_check_kernel_SOURCES = tests/emu/check_kernel.c tests/emu/kernels.h
tests_emu_check_kernel_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_kernel_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_kernel_LDADD = $(EMU_LIBS)

check_PROGRAMS += tests/emu/check_culprit
TESTS += tests/emu/check_culprit
tests_emu_check_culprit_SOURCES = tests/emu/check_culprit.c
tests_emu_check_culprit_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_culprit_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_culprit_LDADD = $(EMU_LIBS)

check_PROGRAMS += tests/emu/check_endless
TESTS += tests/emu/check_endless
tests_emu_check_endless_SOURCES = tests/emu/check_endless.c tests/emu/kernels.h
tests_emu_check_endless_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_endless_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_endless_LDADD = $(EMU_LIBS)

check_PROGRAMS += tests/emu/check_fat
TESTS += tests/emu/check_fat
tests_emu_check_fat_SOURCES = tests/emu/check_fat.c tests/emu/kernels.h tests/support/random.h
tests_emu_check_fat_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_fat_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_fat_LDADD = $(EMU_LIBS)

check_PROGRAMS += tests/emu/check_link
TESTS += tests/emu/check_link
tests_emu_check_link_SOURCES = tests/emu/check_link.c tests/emu/kernels.h
tests_emu_check_link_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_link_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_link_LDADD = $(EMU_LIBS)

# PTX by itself
EXTRA_DIST += \
	tests/ptx/corpus/clusters.ptx tests/ptx/corpus/histogram.ptx tests/ptx/corpus/matrix_product.ptx tests/ptx/corpus/next.ptx \
	tests/ptx/corpus/reduce.ptx tests/ptx/corpus/saxpy.ptx tests/ptx/corpus/vector_add.ptx tests/ptx/corpus/warps.ptx
check_PROGRAMS += tests/ptx/check_damage
TESTS += tests/ptx/check_damage
tests_ptx_check_damage_SOURCES = tests/ptx/check_damage.c tests/ptx/fuzz_ptx.c tests/ptx/fuzz_ptx.h
tests_ptx_check_damage_CPPFLAGS = $(EMU_CPPFLAGS)
tests_ptx_check_damage_CFLAGS = $(EMU_CFLAGS)
tests_ptx_check_damage_LDADD = tests/support/libsupport.la lib/ptx/libptx.la lib/base/libbase.la $(CHECK_LIBS)
check_PROGRAMS += tests/ptx/check_instructions
TESTS += tests/ptx/check_instructions
tests_ptx_check_instructions_SOURCES = tests/ptx/check_instructions.c
tests_ptx_check_instructions_CPPFLAGS = $(EMU_CPPFLAGS)
tests_ptx_check_instructions_CFLAGS = $(EMU_CFLAGS)
tests_ptx_check_instructions_LDADD = $(tests_ptx_check_damage_LDADD)

check_PROGRAMS += tests/emu/check_jit
TESTS += tests/emu/check_jit
tests_emu_check_jit_SOURCES = tests/emu/check_jit.c tests/emu/kernels.h
tests_emu_check_jit_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_jit_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_jit_LDADD = $(EMU_LIBS)

check_PROGRAMS += tests/emu/check_link_input
TESTS += tests/emu/check_link_input
tests_emu_check_link_input_SOURCES = tests/emu/check_link_input.c tests/emu/kernels.h
tests_emu_check_link_input_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_link_input_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_link_input_LDADD = $(EMU_LIBS)

check_PROGRAMS += tests/emu/check_child_grid
TESTS += tests/emu/check_child_grid
tests_emu_check_child_grid_SOURCES = tests/emu/check_child_grid.c
tests_emu_check_child_grid_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_child_grid_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_child_grid_LDADD = $(EMU_LIBS)

check_PROGRAMS += tests/emu/check_cluster
TESTS += tests/emu/check_cluster
tests_emu_check_cluster_SOURCES = tests/emu/check_cluster.c
tests_emu_check_cluster_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_cluster_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_cluster_LDADD = $(EMU_LIBS)

check_PROGRAMS += tests/emu/check_kernel_query
TESTS += tests/emu/check_kernel_query
tests_emu_check_kernel_query_SOURCES = tests/emu/check_kernel_query.c tests/emu/kernels.h
tests_emu_check_kernel_query_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_kernel_query_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_kernel_query_LDADD = $(EMU_LIBS)

check_PROGRAMS += tests/emu/check_ended_context
TESTS += tests/emu/check_ended_context
tests_emu_check_ended_context_SOURCES = tests/emu/check_ended_context.c tests/emu/kernels.h
tests_emu_check_ended_context_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_ended_context_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_ended_context_LDADD = $(EMU_LIBS)

check_PROGRAMS += tests/emu/check_ended_memory
TESTS += tests/emu/check_ended_memory
tests_emu_check_ended_memory_SOURCES = tests/emu/check_ended_memory.c tests/emu/ended_memory.h \
	tests/emu/ended_memory_kinds.c tests/emu/ended_memory_works.c tests/emu/kernels.h tests/emu/partner.h
tests_emu_check_ended_memory_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_ended_memory_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_ended_memory_LDADD = $(EMU_LIBS)
check_PROGRAMS += tests/emu/check_value_op
TESTS += tests/emu/check_value_op
tests_emu_check_value_op_SOURCES = tests/emu/check_value_op.c
tests_emu_check_value_op_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_value_op_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_value_op_LDADD = $(EMU_LIBS)

check_PROGRAMS += tests/emu/check_hint
TESTS += tests/emu/check_hint
tests_emu_check_hint_SOURCES = tests/emu/check_hint.c
tests_emu_check_hint_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_hint_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_hint_LDADD = $(EMU_LIBS)

check_PROGRAMS += tests/emu/check_sweep
TESTS += tests/emu/check_sweep
tests_emu_check_sweep_SOURCES = tests/emu/check_sweep.c tests/emu/kernels.h
tests_emu_check_sweep_CPPFLAGS = $(EMU_CPPFLAGS)
tests_emu_check_sweep_CFLAGS = $(EMU_CFLAGS)
tests_emu_check_sweep_LDADD = $(EMU_LIBS)

# edge values of instructions
EDGE_SOURCES = tests/ptx/edges.c tests/ptx/edges.h tests/ptx/edge_rows.h tests/ptx/exact.c tests/ptx/exact.h
EXTRA_DIST += tests/ptx/edges_integer.def tests/ptx/edges_float.def tests/ptx/edges_half.def
check_PROGRAMS += tests/ptx/check_edges_integer tests/ptx/check_edges_float tests/ptx/check_edges_half
TESTS += tests/ptx/check_edges_integer tests/ptx/check_edges_float tests/ptx/check_edges_half
tests_ptx_check_edges_integer_SOURCES = tests/ptx/check_edges_integer.c tests/ptx/rows_integer.c $(EDGE_SOURCES)
tests_ptx_check_edges_integer_CPPFLAGS = $(EMU_CPPFLAGS)
tests_ptx_check_edges_integer_CFLAGS = $(EMU_CFLAGS)
tests_ptx_check_edges_integer_LDADD = $(EMU_LIBS)
tests_ptx_check_edges_float_SOURCES = tests/ptx/check_edges_float.c tests/ptx/rows_float.c $(EDGE_SOURCES)
tests_ptx_check_edges_float_CPPFLAGS = $(EMU_CPPFLAGS)
tests_ptx_check_edges_float_CFLAGS = $(EMU_CFLAGS)
tests_ptx_check_edges_float_LDADD = $(EMU_LIBS)
tests_ptx_check_edges_half_SOURCES = tests/ptx/check_edges_half.c tests/ptx/rows_half.c $(EDGE_SOURCES)
tests_ptx_check_edges_half_CPPFLAGS = $(EMU_CPPFLAGS)
tests_ptx_check_edges_half_CFLAGS = $(EMU_CFLAGS)
tests_ptx_check_edges_half_LDADD = $(EMU_LIBS)

# warps
EXTRA_DIST += tests/ptx/lockstep.cu tests/ptx/lockstep.ptx
check_PROGRAMS += tests/ptx/check_lockstep
TESTS += tests/ptx/check_lockstep
tests_ptx_check_lockstep_SOURCES = tests/ptx/check_lockstep.c
tests_ptx_check_lockstep_CPPFLAGS = $(EMU_CPPFLAGS)
tests_ptx_check_lockstep_CFLAGS = $(EMU_CFLAGS)
tests_ptx_check_lockstep_LDADD = $(EMU_LIBS)

check_PROGRAMS += tests/ptx/check_liveness
TESTS += tests/ptx/check_liveness
tests_ptx_check_liveness_SOURCES = tests/ptx/check_liveness.c
tests_ptx_check_liveness_CPPFLAGS = $(EMU_CPPFLAGS)
tests_ptx_check_liveness_CFLAGS = $(EMU_CFLAGS)
tests_ptx_check_liveness_LDADD = $(tests_ptx_check_damage_LDADD)

check_PROGRAMS += tests/ptx/check_flow
TESTS += tests/ptx/check_flow
tests_ptx_check_flow_SOURCES = tests/ptx/check_flow.c tests/support/random.h
tests_ptx_check_flow_CPPFLAGS = $(EMU_CPPFLAGS)
tests_ptx_check_flow_CFLAGS = $(EMU_CFLAGS)
tests_ptx_check_flow_LDADD = $(tests_ptx_check_damage_LDADD)

check_PROGRAMS += tests/ptx/check_access
TESTS += tests/ptx/check_access
tests_ptx_check_access_SOURCES = tests/ptx/check_access.c
tests_ptx_check_access_CPPFLAGS = $(EMU_CPPFLAGS)
tests_ptx_check_access_CFLAGS = $(EMU_CFLAGS)
tests_ptx_check_access_LDADD = $(tests_ptx_check_damage_LDADD)

check_PROGRAMS += tests/ptx/check_cores
TESTS += tests/ptx/check_cores
tests_ptx_check_cores_SOURCES = tests/ptx/check_cores.c
tests_ptx_check_cores_CPPFLAGS = $(EMU_CPPFLAGS)
tests_ptx_check_cores_CFLAGS = $(EMU_CFLAGS)
tests_ptx_check_cores_LDADD = $(tests_ptx_check_damage_LDADD)

check_PROGRAMS += tests/ptx/check_clusters
TESTS += tests/ptx/check_clusters
tests_ptx_check_clusters_SOURCES = tests/ptx/check_clusters.c
tests_ptx_check_clusters_CPPFLAGS = $(EMU_CPPFLAGS)
tests_ptx_check_clusters_CFLAGS = $(EMU_CFLAGS)
tests_ptx_check_clusters_LDADD = $(tests_ptx_check_damage_LDADD)

check_PROGRAMS += tests/ptx/check_wide
TESTS += tests/ptx/check_wide
tests_ptx_check_wide_SOURCES = tests/ptx/check_wide.c
tests_ptx_check_wide_CPPFLAGS = $(EMU_CPPFLAGS)
tests_ptx_check_wide_CFLAGS = $(EMU_CFLAGS)
tests_ptx_check_wide_LDADD = $(tests_ptx_check_damage_LDADD)

check_PROGRAMS += tests/ptx/check_random
TESTS += tests/ptx/check_random
tests_ptx_check_random_SOURCES = tests/ptx/check_random.c tests/ptx/random/evaluate.c tests/ptx/random/make.c \
	tests/ptx/random/program.h tests/ptx/random/rows.c tests/ptx/random/text.c tests/ptx/edge_rows.h tests/ptx/edges.h \
	tests/ptx/exact.c tests/ptx/exact.h tests/ptx/rows_float.c tests/ptx/rows_half.c tests/ptx/rows_integer.c \
	tests/support/random.h
tests_ptx_check_random_CPPFLAGS = $(EMU_CPPFLAGS)
tests_ptx_check_random_CFLAGS = $(EMU_CFLAGS)
tests_ptx_check_random_LDADD = $(tests_ptx_check_damage_LDADD)

check_PROGRAMS += tests/ptx/check_judged
TESTS += tests/ptx/check_judged
tests_ptx_check_judged_SOURCES = tests/ptx/check_judged.c tests/ptx/judged.def
tests_ptx_check_judged_CPPFLAGS = $(EMU_CPPFLAGS)
tests_ptx_check_judged_CFLAGS = $(EMU_CFLAGS)
tests_ptx_check_judged_LDADD = $(tests_ptx_check_damage_LDADD)

check_PROGRAMS += tests/ptx/check_refused
TESTS += tests/ptx/check_refused
tests_ptx_check_refused_SOURCES = tests/ptx/check_refused.c tests/ptx/edge_rows.h tests/ptx/edges.h tests/ptx/exact.c \
	tests/ptx/exact.h tests/ptx/rows_float.c tests/ptx/rows_half.c tests/ptx/rows_integer.c
tests_ptx_check_refused_CPPFLAGS = $(EMU_CPPFLAGS)
tests_ptx_check_refused_CFLAGS = $(EMU_CFLAGS)
tests_ptx_check_refused_LDADD = $(tests_ptx_check_damage_LDADD) -lm

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
tests_ptx_check_kernels_CPPFLAGS = $(EMU_CPPFLAGS)
tests_ptx_check_kernels_CFLAGS = $(EMU_CFLAGS)
tests_ptx_check_kernels_LDADD = $(tests_ptx_check_damage_LDADD) -lm

# The same kernels on a libcuda, for a machine with a GPU; tests/ptx/driver.sh runs it on the stand-ins.
check_PROGRAMS += tests/ptx/kernels_on_driver
tests_ptx_kernels_on_driver_SOURCES = $(KERNEL_TESTS) tests/ptx/kernels/run_driver.c
tests_ptx_kernels_on_driver_CPPFLAGS = $(EMU_CPPFLAGS)
tests_ptx_kernels_on_driver_CFLAGS = $(EMU_CFLAGS)
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

# texts of PTX
check_PROGRAMS += tests/ptx/check_texts
TESTS += tests/ptx/check_texts
tests_ptx_check_texts_SOURCES = tests/ptx/check_texts.c
tests_ptx_check_texts_CPPFLAGS = $(EMU_CPPFLAGS)
tests_ptx_check_texts_CFLAGS = $(EMU_CFLAGS)
tests_ptx_check_texts_LDADD = $(EMU_LIBS)
check_PROGRAMS += tests/ptx/check_builtins
TESTS += tests/ptx/check_builtins
tests_ptx_check_builtins_SOURCES = tests/ptx/check_builtins.c
tests_ptx_check_builtins_CPPFLAGS = $(EMU_CPPFLAGS)
tests_ptx_check_builtins_CFLAGS = $(EMU_CFLAGS)
tests_ptx_check_builtins_LDADD = $(EMU_LIBS)
check_PROGRAMS += tests/ptx/check_forms
TESTS += tests/ptx/check_forms
tests_ptx_check_forms_SOURCES = tests/ptx/check_forms.c
tests_ptx_check_forms_CPPFLAGS = $(EMU_CPPFLAGS)
tests_ptx_check_forms_CFLAGS = $(EMU_CFLAGS)
tests_ptx_check_forms_LDADD = $(EMU_LIBS)
