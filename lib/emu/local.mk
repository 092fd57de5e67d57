noinst_LTLIBRARIES += lib/emu/libemu.la
lib_emu_libemu_la_SOURCES = lib/emu/emu.h
lib_emu_libemu_la_LIBADD = lib/ptx/libptx.la $(LZ4_LIBS) $(ZSTD_LIBS)

# The folders, from below: each may include those before it.
lib_emu_libemu_la_SOURCES += \
	lib/emu/base/context_record.h \
	lib/emu/base/driver_mapping.c \
	lib/emu/base/driver_mapping.h \
	lib/emu/base/gpu.c \
	lib/emu/base/gpu.h \
	lib/emu/base/gpus.def \
	lib/emu/base/handle.c \
	lib/emu/base/handle.h \
	lib/emu/base/machine.c \
	lib/emu/base/machine.h \
	lib/emu/base/process_file.c \
	lib/emu/base/process_file.h \
	lib/emu/base/process_life.c \
	lib/emu/base/process_life.h \
	lib/emu/base/refusal.c \
	lib/emu/base/refusal.h \
	lib/emu/base/sealed_file.c \
	lib/emu/base/sealed_file.h \
	lib/emu/base/slot.c \
	lib/emu/base/slot.h \
	lib/emu/base/state.c \
	lib/emu/base/state.h \
	lib/emu/base/teardown_deadline.c \
	lib/emu/base/teardown_deadline.h \
	lib/emu/base/warp.c \
	lib/emu/base/warp.h
lib_emu_libemu_la_SOURCES += \
	lib/emu/report/error_log.c \
	lib/emu/report/error_log.h \
	lib/emu/report/failure.c \
	lib/emu/report/failure.h \
	lib/emu/report/not_supported.c \
	lib/emu/report/not_supported.h
lib_emu_libemu_la_SOURCES += \
	lib/emu/device/attribute.c \
	lib/emu/device/board.c \
	lib/emu/device/board.h \
	lib/emu/device/device.c \
	lib/emu/device/device.h \
	lib/emu/device/sticky.c \
	lib/emu/device/sticky.h \
	lib/emu/device/visible_devices.c \
	lib/emu/device/visible_devices.h
lib_emu_libemu_la_SOURCES += \
	lib/emu/memory/access_log.c \
	lib/emu/memory/access_log.h \
	lib/emu/memory/allocation.c \
	lib/emu/memory/allocation.h \
	lib/emu/memory/allocation_use.c \
	lib/emu/memory/arena.c \
	lib/emu/memory/arena.h \
	lib/emu/memory/array.c \
	lib/emu/memory/array.h \
	lib/emu/memory/debug_read.c \
	lib/emu/memory/export.c \
	lib/emu/memory/export.h \
	lib/emu/memory/freed.c \
	lib/emu/memory/freed.h \
	lib/emu/memory/mapping.c \
	lib/emu/memory/mapping.h \
	lib/emu/memory/mem_advice.c \
	lib/emu/memory/mem_advice.h \
	lib/emu/memory/physical.c \
	lib/emu/memory/physical.h \
	lib/emu/memory/pool.c \
	lib/emu/memory/pool.h \
	lib/emu/memory/quarantine.c lib/emu/memory/quarantine.h lib/emu/memory/reservation.c \
	lib/emu/memory/reservation.h \
	lib/emu/memory/shared.c \
	lib/emu/memory/shared.h \
	lib/emu/memory/texture.c \
	lib/emu/memory/texture.h
lib_emu_libemu_la_SOURCES += \
	lib/emu/context/context.c \
	lib/emu/context/context.h \
	lib/emu/context/output.c \
	lib/emu/context/output.h \
	lib/emu/context/primary.c \
	lib/emu/context/stack.c \
	lib/emu/context/stack.h
lib_emu_libemu_la_SOURCES += \
	lib/emu/schedule/capture_check.c \
	lib/emu/schedule/capture_check.h \
	lib/emu/schedule/copy.c \
	lib/emu/schedule/copy.h \
	lib/emu/schedule/copy_region.c \
	lib/emu/schedule/cores.c \
	lib/emu/schedule/cores.h \
	lib/emu/schedule/event.c \
	lib/emu/schedule/event.h \
	lib/emu/schedule/fault.c \
	lib/emu/schedule/fault.h \
	lib/emu/schedule/fill.c \
	lib/emu/schedule/fill.h \
	lib/emu/schedule/green.c \
	lib/emu/schedule/green.h \
	lib/emu/schedule/host_function.c \
	lib/emu/schedule/host_function.h \
	lib/emu/schedule/never_synchronized.c \
	lib/emu/schedule/never_synchronized.h \
	lib/emu/schedule/schedule.c \
	lib/emu/schedule/schedule.h \
	lib/emu/schedule/shared_event.c \
	lib/emu/schedule/shared_event.h \
	lib/emu/schedule/stream.c \
	lib/emu/schedule/stream.h \
	lib/emu/schedule/value_op.c \
	lib/emu/schedule/value_op.h \
	lib/emu/schedule/wait.c \
	lib/emu/schedule/work.c \
	lib/emu/schedule/work.h \
	lib/emu/schedule/work_timestamps.c \
	lib/emu/schedule/work_timestamps.h
lib_emu_libemu_la_SOURCES += \
	lib/emu/module/archive.c \
	lib/emu/module/archive.h \
	lib/emu/module/cluster.c \
	lib/emu/module/cluster.h \
	lib/emu/module/code.c \
	lib/emu/module/code.h \
	lib/emu/module/code_load.c \
	lib/emu/module/condition_handle.c \
	lib/emu/module/condition_handle.h \
	lib/emu/module/device_errors.c \
	lib/emu/module/device_errors.h \
	lib/emu/module/device_runtime.c \
	lib/emu/module/device_runtime.h \
	lib/emu/module/hazard_text.c lib/emu/module/hazard_text.h lib/emu/module/heap.c \
	lib/emu/module/heap.h \
	lib/emu/module/image.c \
	lib/emu/module/image.h \
	lib/emu/module/jit.c \
	lib/emu/module/jit.h \
	lib/emu/module/kernel_fault_text.c \
	lib/emu/module/kernel_fault_text.h \
	lib/emu/module/kernel_facts.c lib/emu/module/kernel_facts.h \
	lib/emu/module/launch.c \
	lib/emu/module/launch.h \
	lib/emu/module/launch_check.c \
	lib/emu/module/launch_check.h \
	lib/emu/module/launch_memory.c \
	lib/emu/module/launch_memory.h \
	lib/emu/module/launch_hint.c \
	lib/emu/module/launch_hint.h \
	lib/emu/module/library.c \
	lib/emu/module/place_text.c lib/emu/module/place_text.h \
	lib/emu/module/link.c \
	lib/emu/module/loading.c \
	lib/emu/module/loading.h \
	lib/emu/module/module.c \
	lib/emu/module/module.h \
	lib/emu/module/sources.c \
	lib/emu/module/sources.h \
	lib/emu/module/texture_reference.c lib/emu/module/texture_reference.h \
	lib/emu/module/unpack.c \
	lib/emu/module/unpack.h \
	lib/emu/module/watchdog.c \
	lib/emu/module/watchdog.h
lib_emu_libemu_la_SOURCES += \
	lib/emu/graph/capture.c \
	lib/emu/graph/capture.h \
	lib/emu/graph/condition.c \
	lib/emu/graph/condition.h \
	lib/emu/graph/exec.c \
	lib/emu/graph/exec.h \
	lib/emu/graph/exec_node.c \
	lib/emu/graph/exec_schedule.c \
	lib/emu/graph/exec_schedule.h \
	lib/emu/graph/exec_watch.c \
	lib/emu/graph/exec_watch.h \
	lib/emu/graph/graph.c \
	lib/emu/graph/graph.h \
	lib/emu/graph/graph_compare.c \
	lib/emu/graph/graph_memory.c \
	lib/emu/graph/graph_memory.h \
	lib/emu/graph/graph_node.c \
	lib/emu/graph/graph_node.h \
	lib/emu/graph/node_params.c \
	lib/emu/graph/node_params.h \
	lib/emu/graph/user_object.c \
	lib/emu/graph/user_object.h
lib_emu_libemu_la_SOURCES += \
	lib/emu/call/array_call.c \
	lib/emu/call/capture_call.c \
	lib/emu/call/checkpoint.c \
	lib/emu/call/config.c \
	lib/emu/call/context_call.c \
	lib/emu/call/copy_batch.c \
	lib/emu/call/copy_call.c \
	lib/emu/call/device_call.c \
	lib/emu/call/device_query.c \
	lib/emu/call/error.c \
	lib/emu/call/event_call.c \
	lib/emu/call/exec_call.c \
	lib/emu/call/explain.c \
	lib/emu/call/external.c \
	lib/emu/call/fault_table.c \
	lib/emu/call/fill_call.c \
	lib/emu/call/function_call.c \
	lib/emu/call/graph_call.c \
	lib/emu/call/graph_dot.c \
	lib/emu/call/graph_identity.c \
	lib/emu/call/graph_kernel.c \
	lib/emu/call/graph_memory_node.c \
	lib/emu/call/graph_node_any.c \
	lib/emu/call/graph_query.c \
	lib/emu/call/green_call.c \
	lib/emu/call/green_resource.c \
	lib/emu/call/host_function_call.c \
	lib/emu/call/host_memory.c \
	lib/emu/call/ipc.c \
	lib/emu/call/ipc_event.c \
	lib/emu/call/kernel_call.c \
	lib/emu/call/kernel_node_attribute.c \
	lib/emu/call/launch_call.c \
	lib/emu/call/lifecycle.c \
	lib/emu/call/limit.c \
	lib/emu/call/limit.h \
	lib/emu/call/batch.h \
	lib/emu/call/mem_advice_call.c \
	lib/emu/call/memory.c \
	lib/emu/call/module_call.c \
	lib/emu/call/notification.c \
	lib/emu/call/occupancy_call.c \
	lib/emu/call/old_launch.c \
	lib/emu/call/peer.c \
	lib/emu/call/peer.h \
	lib/emu/call/pointer.c \
	lib/emu/call/pool_call.c \
	lib/emu/call/pool_share.c \
	lib/emu/call/profiler.c \
	lib/emu/call/shareable.c \
	lib/emu/call/stream_attribute.c \
	lib/emu/call/table.c \
	lib/emu/call/texture_call.c lib/emu/call/texture_reference_call.c \
	lib/emu/call/value_call.c \
	lib/emu/call/virtual_memory.c
