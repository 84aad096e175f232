#include <stdio.h>
#include "roman.h"

static int failures = 0;
static int checks = 0;

static void expect(const char *text, int wanted)
{
    int found = roman_value(text);
    checks++;
    if (found == wanted)
        return;
    failures++;
    printf("error: roman_value(\"%s\") is %d, expected %d\n", text, found, wanted);
}

int main(void)
{
    expect("VIII", 8);
    expect("IV", 4);
    expect("MCMXCIV", 1994);
    expect("ABC", -1);
    printf("%d checks, %d failed\n", checks, failures);
    return failures == 0 ? 0 : 1;
}
