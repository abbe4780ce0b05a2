/* Elementary functions of four numbers at once, to the last digit or two.

   Written out so that every machine computes the same bits: nothing here depends on a library of mathematics, and the
   compiler is told not to fuse or reorder. Included twice, for plain machines and for those with wide registers. */

typedef double Four __attribute__((vector_size(32), aligned(8)));
typedef long long Bits __attribute__((vector_size(32), aligned(8)));
typedef unsigned long long Whole __attribute__((vector_size(32), aligned(8)));

#define EVERY(x) ((Four){(x), (x), (x), (x)})
#define EVERY_BIT(x) ((Bits){(x), (x), (x), (x)})
#define ROUNDER 6755399441055744.0 /* 1.5 * 2^52: adding it rounds to a whole number, which its low bits then hold */

static inline Four NAME(choose)(Bits mask, Four yes, Four no) {
    return (Four)((mask & (Bits)yes) | (~mask & (Bits)no));
}

static inline Four NAME(exp4)(Four x) {
    x = NAME(choose)(x > EVERY(709.0), EVERY(709.0), x);
    x = NAME(choose)(x < EVERY(-708.0), EVERY(-708.0), x);
    Four shifted = x * EVERY(1.4426950408889634) + EVERY(ROUNDER);
    Four twos = shifted - EVERY(ROUNDER);
    Four r = x - twos * EVERY(6.93147180369123816490e-01) - twos * EVERY(1.90821492927058770002e-10);
    static const double odd[] = {1.6059043836821613e-10, 2.505210838544172e-08, 2.7557319223985893e-06,
                                 0.0001984126984126984,  0.008333333333333333,  0.16666666666666666, 1.0};
    static const double even[] = {2.08767569878681e-09, 2.755731922398589e-07, 2.48015873015873e-05,
                                  0.001388888888888889, 0.041666666666666664,  0.5,                  1.0};
    Four s = r * r, a = EVERY(odd[0]), b = EVERY(even[0]);
    for (int i = 1; i < 7; i++) a = a * s + EVERY(odd[i]), b = b * s + EVERY(even[i]);
    Four sum = a * r + b;
    Bits power = (((Bits)shifted) + EVERY_BIT(1023)) << 52;
    return sum * (Four)power;
}

static inline Four NAME(log4)(Four x) { /* of positive numbers that are not tiny */
    Bits bits = (Bits)x - EVERY_BIT(0x3fe6a09e667f3bcdLL); /* the mantissa goes from sqrt(1/2) to sqrt(2) */
    Whole exponent = (Whole)(bits + EVERY_BIT(1023LL << 52)) >> 52; /* kept positive, for a shift that knows no sign */
    Four mantissa = (Four)((bits & EVERY_BIT(0x000fffffffffffffLL)) + EVERY_BIT(0x3fe6a09e667f3bcdLL));
    Four twos = (Four)((Bits)exponent + EVERY_BIT(0x4330000000000000LL)) - EVERY(4503599627370496.0 + 1023.0);
    Four f = (mantissa - EVERY(1.0)) / (mantissa + EVERY(1.0)), s = f * f;
    Four sum = EVERY(1.0 / 25);
    for (int i = 23; i >= 1; i -= 2) sum = sum * s + EVERY(1.0 / i);
    return twos * EVERY(6.93147180369123816490e-01) + (EVERY(2.0) * f * sum + twos * EVERY(1.90821492927058770002e-10));
}

static inline void NAME(sincos4)(Four x, Four *sine, Four *cosine) { /* up to a million, and nothing beyond */
    Bits beyond = (x > EVERY(1e6)) | (x < EVERY(-1e6));
    Four shifted = x * EVERY(0.6366197723675814) + EVERY(ROUNDER);
    Four quarters = shifted - EVERY(ROUNDER);
    Four r = x - quarters * EVERY(1.57079632673412561417e+00);
    r = r - quarters * EVERY(6.07710050630396597660e-11);
    r = r - quarters * EVERY(2.02226624879595063154e-21);
    Four s = r * r;
    Four a = EVERY(2.8114572543455206e-15), b = EVERY(4.779477332387385e-14);
    static const double odd[] = {-7.647163731819816e-13, 1.6059043836821613e-10, -2.505210838544172e-08,
                                 2.7557319223985893e-06, -0.0001984126984126984, 0.008333333333333333,
                                 -0.16666666666666666};
    static const double even[] = {-1.1470745597729725e-11, 2.08767569878681e-09, -2.755731922398589e-07,
                                  2.48015873015873e-05, -0.001388888888888889, 0.041666666666666664, -0.5};
    for (int i = 0; i < 7; i++) a = a * s + EVERY(odd[i]), b = b * s + EVERY(even[i]);
    a = r + r * s * a;
    b = EVERY(1.0) + s * b;
    Bits quarter = (Bits)shifted;
    Bits swap = (quarter & EVERY_BIT(1)) != EVERY_BIT(0);
    Bits minus_sine = (quarter & EVERY_BIT(2)) << 62, minus_cosine = ((quarter + EVERY_BIT(1)) & EVERY_BIT(2)) << 62;
    *sine = (Four)((Bits)NAME(choose)(swap, b, a) ^ minus_sine);
    *cosine = (Four)((Bits)NAME(choose)(swap, a, b) ^ minus_cosine);
    *sine = NAME(choose)(beyond, EVERY(__builtin_nan("")), *sine);
}
