#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage_text[] =
    "usage: mpirun -n RANKS mpi_pipeline [OPTION...] FILE\n"
    "Deals FILE out to ranks, each of which counts its block's bytes on a GPU of its own\n"
    "while the two neighbours in the ring get the block on theirs.\n"
    "  --chunk SIZE      bytes that are copied and counted at once, 1 to 64M (4M)\n"
    "  --exchange WAY    no better way than exported (the default), ipc, aware or staged\n"
    "  --no-cuda-aware   give MPI no GPU memory, even if it is CUDA-aware\n"
    "  --topology FILE   hwloc's topology, as lstopo FILE.xml writes it (this machine's)\n"
    "  --nodes N         pretend that the ranks of a machine are on N nodes\n"
    "  --verify          compare the blocks that came byte for byte\n"
    "  --bare            call MPI without a scope of ctxrt around it\n";

static long parse(const char *option, const char *text, long high)
{
    char *end;
    long value = strtol(text, &end, 10);
    int shift = *end == 'K' ? 10 : *end == 'M' ? 20 : 0;
    if (end == text || end[shift != 0] != '\0' || value < 1 || value > high >> shift)
        job_wrong_use("--%s cannot be %s", option, text);
    return value << shift;
}

static mpi_way parse_way(const char *text)
{
    for (mpi_way way = 0; way < WAY_COUNT; way++)
        if (strcmp(text, way_names[way]) == 0)
            return way;
    job_wrong_use("--exchange cannot be %s", text);
}

static void take(mpi_options *self, int letter, char **argv)
{
    switch (letter) {
    case 'c':
        self->chunk_bytes = (size_t)parse("chunk", optarg, 64L << 20);
        break;
    case 'e':
        self->wish.best = parse_way(optarg);
        break;
    case 'a':
        self->wish.aware = false;
        break;
    case 't':
        self->topology = optarg;
        break;
    case 'n':
        self->nodes = (int)parse("nodes", optarg, 1 << 16);
        break;
    case 'v':
        self->verify = true;
        break;
    case 'b':
        self->guarded = false;
        break;
    default:
        job_wrong_use("unknown or incomplete option %s", argv[optind - 1]);
    }
}

static void print_help(void)
{
    int rank;
    MPI_OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    if (rank == 0)
        fputs(usage_text, stdout);
}

mpi_options options_read(int argc, char **argv)
{
    static const struct option known[] = {
        {"chunk", required_argument, NULL, 'c'},
        {"exchange", required_argument, NULL, 'e'},
        {"no-cuda-aware", no_argument, NULL, 'a'},
        {"topology", required_argument, NULL, 't'},
        {"nodes", required_argument, NULL, 'n'},
        {"verify", no_argument, NULL, 'v'},
        {"bare", no_argument, NULL, 'b'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    mpi_options self = {.chunk_bytes = (size_t)4 << 20, .wish = {.aware = true}, .guarded = true};
    int letter;
    opterr = 0;
    while ((letter = getopt_long(argc, argv, "", known, NULL)) != -1) {
        if (letter == 'h') {
            print_help();
            return self;
        }
        take(&self, letter, argv);
    }
    if (optind + 1 != argc)
        job_wrong_use("one file is needed");
    self.file = argv[optind];
    return self;
}
