/*
 * Makes a driver call fail on demand: stands in the place of a driver's table and lets through all
 * calls but one, of the calling thread. For tests that link the rooms.
 */
#ifndef CX_TEST_FAULTS_H
#define CX_TEST_FAULTS_H

#include "driver/driver.h"

typedef enum fault_mode {
    FAULT_REFUSED,  /* the call is not made */
    /* the call is made, and reports somebody else's failure: what drivers do after asynchronous
     * ones */
    FAULT_REPORTED,
    /* as refused, and so is every later call of that function until the fault is taken back */
    FAULT_LASTING,
    FAULT_DEAD      /* as refused, and so is every later call of any function until then */
} fault_mode;

/* Puts the faulty table into the driver, and takes it out again. One driver at a time. */
void faults_install(cx_driver *driver);
void faults_remove(void);

/* The calling thread's call number `number` from now (1: the next) fails with `result`. */
void faults_arm(long number, cxu_result result, fault_mode mode);

/* Takes the fault back. Returns the calls that were made since it was armed. */
long faults_disarm(void);

/* The call that failed since the fault was armed, by its symbol; NULL if it did not come to
 * that. */
const char *faults_failed_call(void);

/* The driver as it is beneath. */
const cx_driver_table *faults_beneath(void);

#endif
