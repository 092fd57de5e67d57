# Public programs and libraries on the stand-in. ./bootstrap check-clients installs them; what is missing is skipped.
CLIENTS =
check-clients: all
	/usr/bin/env python3 $(srcdir)/tests/clients/run.py $(CLIENT_OPTIONS) . $(CLIENTS)
# After a change that is meant: the outcomes are written anew.
record-clients: all
	/usr/bin/env python3 $(srcdir)/tests/clients/run.py --record . $(CLIENTS)
.PHONY: check-clients record-clients

EXTRA_DIST += tests/clients/run.py tests/clients/pytests.py tests/clients/without_nvjitlink/sitecustomize.py \
	tests/clients/numba_fixtures.py tests/clients/no_decoder.c tests/clients/nvcc_ptx.sh tests/clients/calls tests/clients/clients \
	tests/clients/programs tests/clients/expected
