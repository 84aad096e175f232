#ifndef ROMAN_H
#define ROMAN_H

/* The value of a Roman numeral of M, D, C, L, X, V and I; -1 for any other text. */
int roman_value(const char *text);

#endif
