#!/bin/sh
# Every public function is among the operations that the driver is made to fail in, or makes no driver call, or starts
# or ends the runtime, which is tested by itself. And every one of those others is among the operations that lack host
# memory (check_no_memory.c), as all the first ones are, or allocates none.
others='
    ctxrt_status_name ctxrt_status_text ctxrt_last_error ctxrt_log_set ctxrt_version ctxrt_device_type_name
    ctxrt_init ctxrt_shutdown ctxrt_drivers ctxrt_device_count ctxrt_device_count_all ctxrt_device_by_uuid
    ctxrt_device_by_pci ctxrt_handle_register ctxrt_stack_depth ctxrt_stack_discard ctxrt_stack_peek ctxrt_snapshot_write
    ctxrt_module_native ctxrt_kernel_native
    ctxrt_stream_context ctxrt_stream_native ctxrt_event_native ctxrt_memory_alloc_host ctxrt_memory_wrap
    ctxrt_memory_retain ctxrt_graph_retain ctxrt_graph_context ctxrt_graph_describe ctxrt_operator_register ctxrt_operator_find
    ctxrt_memory_pointer ctxrt_memory_describe ctxrt_allocator_statistics ctxrt_allocator_describe ctxrt_memory_report_write
    ctxrt_plan_alloc ctxrt_plan_free ctxrt_plan_optimise ctxrt_plan_peak ctxrt_plan_offset
    ctxrt_allocator_set_limit ctxrt_allocator_set_out_of_memory ctxrt_allocator_snapshot_write
    ctxrt_allocator_trace_start ctxrt_allocator_trace_stop ctxrt_allocator_trace_write
'
without_memory='
    ctxrt_status_name ctxrt_status_text ctxrt_last_error ctxrt_log_set ctxrt_version ctxrt_device_type_name
    ctxrt_shutdown ctxrt_drivers ctxrt_device_count_all ctxrt_device_by_uuid
    ctxrt_device_by_pci ctxrt_stack_depth ctxrt_stack_discard ctxrt_stack_peek
    ctxrt_module_native ctxrt_kernel_native ctxrt_stream_context ctxrt_stream_native ctxrt_event_native
    ctxrt_memory_retain ctxrt_graph_retain ctxrt_graph_context
    ctxrt_memory_pointer ctxrt_memory_describe ctxrt_allocator_statistics ctxrt_allocator_describe
    ctxrt_plan_free ctxrt_plan_peak ctxrt_plan_offset ctxrt_allocator_set_limit ctxrt_allocator_set_out_of_memory
'
echo 1..2
missing=
for name in $(awk 'BEGIN { RS = ";" } /CTXRT_API/ { sub(/.*CTXRT_API/, ""); if (match($0, /ctxrt_[a-z0-9_]*\(/)) print substr($0, RSTART, RLENGTH - 1) }' "$top_srcdir"/include/ctxrt/*.h); do
    case " $(echo $others) " in
    *" $name "*) continue ;;
    esac
    grep -q "{\"$name[\",]" "$top_srcdir"/tests/faults/operations_*.c || missing="$missing $name"
done
if [ -z "$missing" ]; then
    echo "ok 1 - the driver is made to fail in every public function that calls it"
else
    echo "not ok 1 - the driver is not made to fail in:$missing"
fi

missing=
for name in $others; do
    case " $(echo $without_memory) " in
    *" $name "*) continue ;;
    esac
    grep -qw "$name" "$top_srcdir/tests/faults/check_no_memory.c" || missing="$missing $name"
done
if [ -z "$missing" ]; then
    echo "ok 2 - host memory is made to fail in every public function that allocates some"
else
    echo "not ok 2 - host memory is not made to fail in:$missing"
fi
