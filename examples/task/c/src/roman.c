#include "roman.h"

static int digit(char letter)
{
    switch (letter) {
    case 'M': return 1000;
    case 'D': return 500;
    case 'C': return 100;
    case 'L': return 50;
    case 'X': return 10;
    case 'V': return 5;
    case 'I': return 1;
    default: return -1;
    }
}

int roman_value(const char *text)
{
    int sum = 0;
    for (; *text != '\0'; text++) {
        int value = digit(*text);
        if (value < 0)
            return -1;
        sum += value;
    }
    return sum;
}
