/*
 * Turns the parameter lists of symbols.def, written (type, name, type, name, ...), into a
 * declaration or into the arguments of a call: CX_DECLARE(2, (int, a, char *, b)) is (int a, char
 * *b), CX_PASS(2, (int, a, char *, b)) is (a, b).
 */
#ifndef CX_DRIVER_PARAMETERS_H
#define CX_DRIVER_PARAMETERS_H

#define CX_DECLARE(arity, list) CX_DECLARE_(arity, list)
#define CX_DECLARE_(arity, list) CX_DECLARE_##arity list
#define CX_DECLARE_0() (void)
#define CX_DECLARE_1(t1, n1) (t1 n1)
#define CX_DECLARE_2(t1, n1, t2, n2) (t1 n1, t2 n2)
#define CX_DECLARE_3(t1, n1, t2, n2, t3, n3) (t1 n1, t2 n2, t3 n3)
#define CX_DECLARE_4(t1, n1, t2, n2, t3, n3, t4, n4) (t1 n1, t2 n2, t3 n3, t4 n4)
#define CX_DECLARE_5(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5) (t1 n1, t2 n2, t3 n3, t4 n4, t5 n5)
#define CX_DECLARE_6(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6) \
    (t1 n1, t2 n2, t3 n3, t4 n4, t5 n5, t6 n6)
#define CX_DECLARE_7(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7) \
    (t1 n1, t2 n2, t3 n3, t4 n4, t5 n5, t6 n6, t7 n7)
#define CX_DECLARE_8(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7, t8, n8) \
    (t1 n1, t2 n2, t3 n3, t4 n4, t5 n5, t6 n6, t7 n7, t8 n8)
#define CX_DECLARE_9(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7, t8, n8, t9, n9) \
    (t1 n1, t2 n2, t3 n3, t4 n4, t5 n5, t6 n6, t7 n7, t8 n8, t9 n9)
#define CX_DECLARE_10(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7, t8, n8, t9, n9, t10, \
                      n10)                                                                         \
    (t1 n1, t2 n2, t3 n3, t4 n4, t5 n5, t6 n6, t7 n7, t8 n8, t9 n9, t10 n10)
#define CX_DECLARE_11(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7, t8, n8, t9, n9, t10, \
                      n10, t11, n11)                                                               \
    (t1 n1, t2 n2, t3 n3, t4 n4, t5 n5, t6 n6, t7 n7, t8 n8, t9 n9, t10 n10, t11 n11)

#define CX_PASS(arity, list) CX_PASS_(arity, list)
#define CX_PASS_(arity, list) CX_PASS_##arity list
#define CX_PASS_0() ()
#define CX_PASS_1(t1, n1) (n1)
#define CX_PASS_2(t1, n1, t2, n2) (n1, n2)
#define CX_PASS_3(t1, n1, t2, n2, t3, n3) (n1, n2, n3)
#define CX_PASS_4(t1, n1, t2, n2, t3, n3, t4, n4) (n1, n2, n3, n4)
#define CX_PASS_5(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5) (n1, n2, n3, n4, n5)
#define CX_PASS_6(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6) (n1, n2, n3, n4, n5, n6)
#define CX_PASS_7(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7) \
    (n1, n2, n3, n4, n5, n6, n7)
#define CX_PASS_8(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7, t8, n8) \
    (n1, n2, n3, n4, n5, n6, n7, n8)
#define CX_PASS_9(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7, t8, n8, t9, n9) \
    (n1, n2, n3, n4, n5, n6, n7, n8, n9)
#define CX_PASS_10(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7, t8, n8, t9, n9, t10, \
                   n10)                                                                         \
    (n1, n2, n3, n4, n5, n6, n7, n8, n9, n10)
#define CX_PASS_11(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7, t8, n8, t9, n9, t10, \
                   n10, t11, n11)                                                               \
    (n1, n2, n3, n4, n5, n6, n7, n8, n9, n10, n11)

#endif
