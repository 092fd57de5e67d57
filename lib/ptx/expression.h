/* Constant expressions: what may stand wherever a number may. */
#ifndef CX_PTX_EXPRESSION_H
#define CX_PTX_EXPRESSION_H

#include "ptx/parser.h"

/* The value of an expression, as an operand has it. */
typedef struct cx_ptx_expression {
    cx_ptx_type type; /* S64 or U64, F64, or F32 of a single literal and its negation */
    uint64_t bits;
} cx_ptx_expression;

/* True if the current token begins an expression: all but a name, a bracket or a brace. */
bool cx_ptx_at_expression(const cx_ptx_parser *self);

/* Takes an expression of all operators. */
bool cx_ptx_parse_expression(cx_ptx_parser *self, cx_ptx_expression *out_value);

/* Takes a term, what a sum consists of: products and quotients. */
bool cx_ptx_parse_term(cx_ptx_parser *self, cx_ptx_expression *out_value);

#endif
