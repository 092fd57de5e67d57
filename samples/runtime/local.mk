# Programs of the CUDA Runtime API, which their test builds where nvcc is.
RUNTIME_SAMPLES = samples/runtime/vector_add.cu samples/runtime/peer_copies.cu samples/runtime/streams.cu \
	samples/runtime/runtime_mix.cu
nobase_dist_doc_DATA += $(RUNTIME_SAMPLES)
nobase_dist_doc_DATA += samples/runtime/workflow.yml
EXTRA_DIST += samples/runtime/expected/vector_add.txt samples/runtime/expected/peer_copies.txt \
	samples/runtime/expected/streams.txt samples/runtime/expected/runtime_mix.txt
dist_check_SCRIPTS += samples/runtime/check_runtime.sh
TESTS += samples/runtime/check_runtime.sh
