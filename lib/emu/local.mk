noinst_LTLIBRARIES += lib/emu/libemu.la
lib_emu_libemu_la_SOURCES = \
	lib/emu/emu.h lib/emu/state.h lib/emu/device.h lib/emu/context.h \
	lib/emu/allocation.h lib/emu/work.h

# life, devices, contexts, stacks, primary contexts, peers
lib_emu_libemu_la_SOURCES += \
	lib/emu/attribute.c lib/emu/cluster.c lib/emu/cluster.h lib/emu/config.c \
	lib/emu/context.c lib/emu/context_call.c \
	lib/emu/device.c lib/emu/device_call.c lib/emu/error.c lib/emu/explain.c lib/emu/explain.h \
	lib/emu/fault.c lib/emu/fault.h lib/emu/gpu.c lib/emu/gpu.h lib/emu/gpus.def \
	lib/emu/green.c lib/emu/green.h lib/emu/green_call.c lib/emu/green_resource.c lib/emu/ipc.c lib/emu/ipc_event.c lib/emu/process_file.c lib/emu/process_file.h lib/emu/process_life.c lib/emu/process_life.h lib/emu/profiler.c lib/emu/limit.c lib/emu/limit.h \
	lib/emu/peek.c lib/emu/peer.c lib/emu/peer.h lib/emu/primary.c \
	lib/emu/slot.c lib/emu/slot.h \
	lib/emu/stack.c lib/emu/stack.h \
	lib/emu/timed.c lib/emu/timed.h lib/emu/touched.c lib/emu/touched.h lib/emu/state.c lib/emu/sticky.c lib/emu/sticky.h lib/emu/table.c lib/emu/unwaited.c lib/emu/unwaited.h lib/emu/visible.c \
	lib/emu/watched.c

# memory
lib_emu_libemu_la_SOURCES += \
	lib/emu/view.c lib/emu/view.h \
	lib/emu/arena.c lib/emu/arena.h lib/emu/allocation.c lib/emu/memory.c \
	lib/emu/hint.c lib/emu/hint.h lib/emu/hint_call.c lib/emu/host_memory.c lib/emu/pointer.c lib/emu/pool.c lib/emu/pool.h lib/emu/pool_call.c lib/emu/pool_share.c

# calls of graphs, copies and devices that programs make
lib_emu_libemu_la_SOURCES += \
	lib/emu/checkpoint.c lib/emu/condition.c lib/emu/condition.h lib/emu/copy_batch.c lib/emu/device_query.c \
	lib/emu/error_log.c lib/emu/error_log.h lib/emu/external.c lib/emu/graph_identity.c \
	lib/emu/graph_memory.c lib/emu/graph_memory.h lib/emu/graph_memory_node.c lib/emu/notification.c \
	lib/emu/old_launch.c lib/emu/old_launch.h lib/emu/user_object.c lib/emu/user_object.h

# virtual memory
lib_emu_libemu_la_SOURCES += \
	lib/emu/machine.c lib/emu/machine.h \
	lib/emu/mapping.c lib/emu/mapping.h lib/emu/physical.c lib/emu/physical.h \
	lib/emu/reservation.c lib/emu/reservation.h lib/emu/export.c lib/emu/export.h lib/emu/sealed_file.c lib/emu/sealed_file.h lib/emu/shareable.c lib/emu/shared.c lib/emu/shared.h lib/emu/shared_event.c lib/emu/shared_event.h lib/emu/virtual_memory.c

# work: streams, events, copies
lib_emu_libemu_la_SOURCES += \
	lib/emu/copy.c lib/emu/copy.h lib/emu/copy_region.c lib/emu/event.c lib/emu/event.h \
	lib/emu/fill.c lib/emu/fill.h lib/emu/handle.c lib/emu/handle.h lib/emu/heap.c lib/emu/heap.h \
	lib/emu/host_call.c lib/emu/output.c lib/emu/output.h \
	lib/emu/cores.c lib/emu/cores.h lib/emu/culprit.c lib/emu/culprit.h \
	lib/emu/freed.c lib/emu/freed.h lib/emu/patience.c lib/emu/patience.h \
	lib/emu/warp.c lib/emu/warp.h lib/emu/watchdog.c lib/emu/watchdog.h \
	lib/emu/host_call.h lib/emu/schedule.c \
	lib/emu/schedule.h lib/emu/stream.c lib/emu/stream.h lib/emu/stream_attribute.c lib/emu/wait.c lib/emu/work.c

# capture and graphs
lib_emu_libemu_la_SOURCES += \
	lib/emu/capture.c lib/emu/capture.h lib/emu/capture_call.c \
	lib/emu/exec.c lib/emu/exec.h lib/emu/exec_call.c lib/emu/exec_node.c \
	lib/emu/graph.c lib/emu/graph.h lib/emu/graph_call.c lib/emu/graph_compare.c \
	lib/emu/graph_dot.c lib/emu/graph_kernel.c lib/emu/graph_node.c lib/emu/graph_node.h lib/emu/graph_node_any.c lib/emu/graph_query.c \
	lib/emu/operation.c lib/emu/operation.h lib/emu/value_call.c lib/emu/value_op.c lib/emu/value_op.h lib/emu/plan.c lib/emu/plan.h

# code and kernels
lib_emu_libemu_la_SOURCES += \
	lib/emu/code.c lib/emu/code.h lib/emu/image.c lib/emu/image.h lib/emu/function_call.c lib/emu/kernel_call.c lib/emu/kernel_node_attribute.c lib/emu/occupancy_call.c lib/emu/launch.c lib/emu/launch.h \
	lib/emu/launch_call.c lib/emu/library.c lib/emu/link.c lib/emu/loading.c lib/emu/loading.h lib/emu/module.c lib/emu/module.h lib/emu/module_call.c \
	lib/emu/archive.c lib/emu/archive.h lib/emu/device_runtime.c lib/emu/device_runtime.h \
	lib/emu/jit.c lib/emu/jit.h lib/emu/unpack.c lib/emu/unpack.h
lib_emu_libemu_la_LIBADD = lib/ptx/libptx.la $(LZ4_LIBS) $(ZSTD_LIBS)
