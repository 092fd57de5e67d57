/*
 * Makes a driver call fail on demand: replaces a driver's table and passes on all calls but one, of
 * the calling thread. For tests that link the rooms.
 */
#ifndef CX_TEST_FAULTS_H
#define CX_TEST_FAULTS_H

#include "driver/driver.h"

typedef enum fault_mode {
    FAULT_REFUSED, /* the call is not made */
    /* the call is made, but reports an earlier failure, as drivers do after asynchronous ones */
    FAULT_REPORTED,
    /* as refused; every later call of that function fails too, until the fault is disarmed */
    FAULT_LASTING,
    FAULT_DEAD /* as refused; every later call of any function fails too, until then */
} fault_mode;

/* Installs the faulty table in the driver, and removes it. One driver at a time. */
void faults_install(cx_driver *driver);
void faults_remove(void);

/* The calling thread's call number `number` from now (1: the next) fails with `result`. */
void faults_arm(long number, cxu_result result, fault_mode mode);

/* Disarms the fault. Returns the number of calls made since it was armed. */
long faults_disarm(void);

/* The symbol of the call that failed since the fault was armed; NULL: none did. */
const char *faults_failed_call(void);

/* The driver's own table. */
const cx_driver_table *faults_beneath(void);

#endif
