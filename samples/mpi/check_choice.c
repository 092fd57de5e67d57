/* The choice of GPUs by ranks that are not there, and distances in topology.xml. */
#include "choice.h"
#include "locality.h"
#include "test.h"

#include <hwloc/distances.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 4 };

static gpus_seen seen[RANKS];
static int chosen[RANKS];

static void see(int rank, int number, int distance)
{
    gpu_seen *gpu = &seen[rank].gpu[seen[rank].count++];
    *gpu = (gpu_seen){.distance = distance};
    memset(gpu->uuid, number + 1, sizeof gpu->uuid);
}

static void choose(int ranks)
{
    choice_make(seen, ranks, chosen);
}

START_TEST(ranks_take_gpus_of_unknown_distance_in_turn)
{
    for (int rank = 0; rank < RANKS; rank++)
        for (int i = 0; i < 3; i++)
            see(rank, i, DISTANCE_UNKNOWN);
    choose(RANKS);
    for (int rank = 0; rank < RANKS; rank++)
        ck_assert_int_eq(chosen[rank], rank % 3);
    ck_assert_int_eq(choice_sharers(seen, chosen, 2), 0);
    ck_assert_int_eq(choice_sharers(seen, chosen, 3), 1);
}
END_TEST

START_TEST(the_nearest_of_the_free_gpus_is_taken)
{
    static const int distances[RANKS][4] = {
        {21, 21, 10, 10}, {21, 21, 10, 10}, {10, 10, 21, 21}, {21, 21, 10, 10}};
    for (int rank = 0; rank < RANKS; rank++)
        for (int i = 0; i < 4; i++)
            see(rank, i, distances[rank][i]);
    choose(RANKS);
    ck_assert_int_eq(chosen[0], 2);
    ck_assert_int_eq(chosen[1], 3); /* its turn begins at 1 */
    ck_assert_int_eq(chosen[2], 0);
    ck_assert_int_eq(chosen[3], 1); /* rather a far one than one that is taken */
}
END_TEST

START_TEST(a_known_distance_comes_before_an_unknown_one)
{
    see(0, 0, DISTANCE_UNKNOWN);
    see(0, 1, 40);
    choose(1);
    ck_assert_int_eq(chosen[0], 1);
}
END_TEST

START_TEST(a_rank_that_sees_no_gpu_has_none)
{
    int owner = -1, blind = -1;
    see(0, 0, 10);
    choose(2);
    ck_assert_int_eq(chosen[1], -1);
    ck_assert(choice_hides(seen, chosen, 2, &owner, &blind));
    ck_assert_int_eq(owner, 0);
    ck_assert_int_eq(blind, 1);
}
END_TEST

/* Each rank sees one GPU, as its first. */
START_TEST(gpus_hidden_from_other_ranks_are_found_by_their_uuid)
{
    int owner = -1, blind = -1;
    for (int rank = 0; rank < RANKS; rank++)
        see(rank, rank, DISTANCE_UNKNOWN);
    choose(RANKS);
    ck_assert_int_eq(chosen[1], 0);
    ck_assert(choice_hides(seen, chosen, RANKS, &owner, &blind));
    ck_assert_int_eq(owner, 1);
    ck_assert_int_eq(blind, 0);
}
END_TEST

START_TEST(one_gpu_of_all_ranks_is_hidden_from_none)
{
    int owner, blind;
    for (int rank = 0; rank < RANKS; rank++)
        see(rank, 7, DISTANCE_UNKNOWN);
    choose(RANKS);
    ck_assert(!choice_hides(seen, chosen, RANKS, &owner, &blind));
    ck_assert_int_eq(choice_sharers(seen, chosen, 3), 3);
}
END_TEST

/* ---- distances ---- */

static locality place;

static void open_topology(const char *cpus)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/samples/mpi/topology.xml", getenv("top_srcdir"));
    ck_assert(locality_open(&place, path));
    ck_assert_int_eq(hwloc_bitmap_list_sscanf(place.cpus, cpus), 0);
}

static int distance_to(const char *pci_bus_id)
{
    const char *why = NULL;
    int distance = locality_distance(&place, pci_bus_id, &why);
    ck_assert_int_eq(distance == DISTANCE_UNKNOWN, why != NULL);
    return distance;
}

START_TEST(the_distance_is_that_of_the_nearest_numa_nodes)
{
    open_topology("0");
    ck_assert_int_eq(distance_to("0000:01:00.0"), 21);
    ck_assert_int_eq(distance_to("0000:02:00.0"), 21);
    ck_assert_int_eq(distance_to("0000:03:00.0"), 10);
    locality_close(&place);
    open_topology("1");
    ck_assert_int_eq(distance_to("0000:01:00.0"), 10);
    ck_assert_int_eq(distance_to("0000:04:00.0"), 21);
    locality_close(&place);
    open_topology("0-1");
    ck_assert_int_eq(distance_to("0000:01:00.0"), 10);
    ck_assert_int_eq(distance_to("0000:04:00.0"), 10);
    locality_close(&place);
}
END_TEST

START_TEST(without_figures_a_gpu_is_near_or_far)
{
    open_topology("0");
    ck_assert_int_eq(hwloc_distances_remove(place.topology), 0);
    ck_assert_int_eq(distance_to("0000:01:00.0"), 20);
    ck_assert_int_eq(distance_to("0000:03:00.0"), 10);
    locality_close(&place);
}
END_TEST

START_TEST(an_address_without_a_gpu_has_no_distance)
{
    open_topology("0");
    ck_assert_int_eq(distance_to("0000:77:00.0"), DISTANCE_UNKNOWN);
    ck_assert_int_eq(distance_to("0000:05:00.0"), DISTANCE_UNKNOWN);
    ck_assert_int_eq(distance_to(""), DISTANCE_UNKNOWN);
    locality_close(&place);
}
END_TEST

START_TEST(no_topology_is_read_from_another_file)
{
    ck_assert(!locality_open(&place, "/nowhere/topology.xml"));
}
END_TEST

START_TEST(cpus_are_shown_as_a_list)
{
    char text[32];
    open_topology("0-1");
    locality_cpus(&place, text, sizeof text);
    ck_assert_str_eq(text, "0-1");
    locality_close(&place);
}
END_TEST

static void forget(void)
{
    memset(seen, 0, sizeof seen);
}

static Suite *choice_suite(void)
{
    Suite *suite = suite_create("choice");
    TCase *tcase = tcase_create("choice");
    tcase_add_checked_fixture(tcase, forget, NULL);
    tcase_add_test(tcase, ranks_take_gpus_of_unknown_distance_in_turn);
    tcase_add_test(tcase, the_nearest_of_the_free_gpus_is_taken);
    tcase_add_test(tcase, a_known_distance_comes_before_an_unknown_one);
    tcase_add_test(tcase, a_rank_that_sees_no_gpu_has_none);
    tcase_add_test(tcase, gpus_hidden_from_other_ranks_are_found_by_their_uuid);
    tcase_add_test(tcase, one_gpu_of_all_ranks_is_hidden_from_none);
    suite_add_tcase(suite, tcase);
    return suite;
}

static Suite *locality_suite(void)
{
    Suite *suite = suite_create("locality");
    TCase *tcase = tcase_create("locality");
    tcase_add_test(tcase, the_distance_is_that_of_the_nearest_numa_nodes);
    tcase_add_test(tcase, without_figures_a_gpu_is_near_or_far);
    tcase_add_test(tcase, an_address_without_a_gpu_has_no_distance);
    tcase_add_test(tcase, no_topology_is_read_from_another_file);
    tcase_add_test(tcase, cpus_are_shown_as_a_list);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    static Suite *(*const suites[])(void) = {choice_suite, locality_suite, NULL};
    return cx_test_run(suites);
}
