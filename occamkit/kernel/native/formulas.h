/* Values and slopes of one formula over columns, and the fit of its constants.

   A formula is a program for a stack machine whose instructions take constants in order, so that the program of a part
   is the same wherever the part stands. At the root stands a sum of terms, whose weights are linear and are solved for;
   all other constants are fitted by Levenberg and Marquardt's method on what the weights leave (variable projection). */

static inline double NAME(sum)(Four x) { return (x[0] + x[1]) + (x[2] + x[3]); }

static double NAME(dot)(const double *a, const double *b, int64_t n) {
    Four even = EVERY(0.0), odd = EVERY(0.0);
    for (int64_t i = 0; i < n; i += 8) {
        even += *(const Four *)(a + i) * *(const Four *)(b + i);
        odd += *(const Four *)(a + i + 4) * *(const Four *)(b + i + 4);
    }
    return NAME(sum)(even + odd);
}

#define FOR_FOURS(i, n) for (int64_t i = 0; i < (n); i += 4)
#define AT(x, i) (*(Four *)((x) + (i)))
#define IN(x, i) (*(const Four *)((x) + (i)))

static void NAME(times)(double *out, const double *a, const double *b, int64_t n) {
    FOR_FOURS(i, n) AT(out, i) = IN(a, i) * IN(b, i);
}
static void NAME(scaled)(double *out, double c, const double *a, int64_t n) {
    FOR_FOURS(i, n) AT(out, i) = EVERY(c) * IN(a, i);
}
static void NAME(add)(double *out, double c, const double *a, int64_t n) {
    FOR_FOURS(i, n) AT(out, i) += EVERY(c) * IN(a, i);
}

static int NAME(one_sign)(const double *x, int64_t n) {
    Bits positive = EVERY_BIT(-1), negative = EVERY_BIT(-1);
    FOR_FOURS(i, n) {
        positive &= IN(x, i) > EVERY(LEAST);
        negative &= IN(x, i) < EVERY(-LEAST);
    }
    long long all = positive[0] & positive[1] & positive[2] & positive[3];
    long long none = negative[0] & negative[1] & negative[2] & negative[3];
    return all ? 1 : none ? -1 : 0;
}

static void NAME(spread)(const double *x, int64_t n, double *deviation, double *low, double *high) {
    Four sum = EVERY(0.0), square = EVERY(0.0), least = IN(x, 0), most = least, middle = EVERY(x[0]);
    FOR_FOURS(i, n) { /* about the first row, so that little cancels */
        Four here = IN(x, i), apart = here - middle;
        sum += apart;
        square += apart * apart;
        least = NAME(choose)(here < least, here, least);
        most = NAME(choose)(here > most, here, most);
    }
    *low = least[0], *high = most[0];
    for (int i = 1; i < 4; i++) {
        *low = least[i] < *low ? least[i] : *low;
        *high = most[i] > *high ? most[i] : *high;
    }
    double mean = NAME(sum)(sum) / n, variance = NAME(sum)(square) / n - mean * mean;
    *deviation = sqrt(variance > 0 ? variance : 0);
    if (!(*deviation > TINY_SPREAD && *deviation < HUGE_SPREAD)) *deviation = 1;
}

/* Slopes [first, end) of what is on top of the stack, each times a column or a number. */
static void NAME(chain)(Machine *m, int first, int end, const double *column, double number) {
    for (int k = first; k < end; k++) {
        double *out = m->owned[k] ? (double *)m->slope[k] : take(m);
        if (column) NAME(times)(out, m->slope[k], column, m->n);
        else NAME(scaled)(out, number, m->slope[k], m->n);
        m->slope[k] = out, m->owned[k] = 1;
    }
}

/* Draw the constants of a sum inside a function: from the spread of its terms, so that no unit of measurement matters. */
static void NAME(draw_sum)(Machine *m, const double **terms, int count, int first_is_one, int offset, const int32_t *next,
                           double *constants) {
    double deviation, low, high, weight[MOST_TERMS], *sum = take(m);
    memset(sum, 0, m->n * sizeof *sum);
    for (int j = 0; j < count; j++) {
        NAME(spread)(terms[j], m->n, &deviation, &low, &high);
        weight[j] = (count == 1 ? 1.0 : sign(m) * between(m, 0.2, 5)) / deviation;
        NAME(add)(sum, weight[j], terms[j], m->n);
    }
    NAME(spread)(sum, m->n, &deviation, &low, &high);
    double range = high - low, scale = 1, level = 0;
    if (!(range > TINY_SPREAD && range < HUGE_SPREAD)) range = 1;
    if (next[0] == EXP) scale = sign(m) * between(m, 0.1, 8);
    else if (next[0] == SIN || next[0] == COS) scale = between(m, 1, 60) / range, level = uniform(m) * 6.283185307179586;
    else if (next[0] == OUTSIDE && uniform(m) < 0.5) { /* it may be defined near zero alone, as an arc sine is */
        double most = fmax(fabs(low), fabs(high));
        scale = sign(m) * between(m, 0.05, 1) / (most > TINY_SPREAD ? most : 1);
    } else if (next[0] == TANH || next[0] == OUTSIDE) {
        scale = sign(m) * between(m, 0.5, 8);
        level = -scale * (low + uniform(m) * range);
    } else if (offset == ONE) {
        int whole = next[0] == RAISE && next[1] > 0 && next[1] % 4 == 0;
        double zero = whole && uniform(m) < 0.6 ? low + uniform(m) * range
                      : sign(m) < 0            ? low - between(m, 0.01, 30) * range
                                               : high + between(m, 0.01, 30) * range;
        scale = -1 / (zero != 0 ? zero : 1e-3);
    } else scale = 1 / weight[0];
    for (int j = first_is_one; j < count; j++, constants++)
        if (isnan(*constants)) *constants = weight[j] * scale;
    if (offset == FREE && isnan(*constants)) *constants = level;
}

/* One function of what is on top of the stack; false where it is undefined. */
static int NAME(apply)(Machine *m, int op, int argument, const double **top, int first, double *constants, int *used) {
    int64_t n = m->n;
    const double *x = *top;
    double *value = take(m), *slope = m->slopes || op == OUTSIDE ? take(m) : value;
    if (op == EXP) {
        FOR_FOURS(i, n) AT(value, i) = NAME(exp4)(IN(x, i));
        slope = value;
    } else if (op == SIN) {
        Four rest;
        FOR_FOURS(i, n) NAME(sincos4)(IN(x, i), (Four *)(value + i), m->slopes ? (Four *)(slope + i) : &rest);
    } else if (op == COS) {
        Four sine;
        FOR_FOURS(i, n) {
            NAME(sincos4)(IN(x, i), &sine, (Four *)(value + i));
            if (m->slopes) AT(slope, i) = -sine;
        }
    } else if (op == TANH) {
        FOR_FOURS(i, n) {
            AT(value, i) = EVERY(1.0) - EVERY(2.0) / (EVERY(1.0) + NAME(exp4)(EVERY(2.0) * IN(x, i)));
            if (m->slopes) AT(slope, i) = EVERY(1.0) - IN(value, i) * IN(value, i);
        }
    } else if (op == OUTSIDE) {
        m->outside(argument, n, x, value, slope);
    } else {
        int whole = op == RAISE && argument % 4 == 0;
        int one = whole && argument > 0 ? 1 : NAME(one_sign)(x, n);
        if (!one) return 0;
        if (op == LOG) {
            FOR_FOURS(i, n) {
                AT(value, i) = NAME(log4)(EVERY(one) * IN(x, i));
                if (m->slopes) AT(slope, i) = EVERY(1.0) / IN(x, i);
            }
        } else if (whole) {
            int power = argument / 4, size = power < 0 ? -power : power;
            FOR_FOURS(i, n) {
                Four base = power < 0 ? EVERY(1.0) / IN(x, i) : IN(x, i), result = base;
                for (int j = 1; j < size; j++) result *= base;
                AT(value, i) = result;
                if (m->slopes) {
                    Four before = power < 0 ? result * base : EVERY(1.0);
                    for (int j = 1; power > 0 && j < size; j++) before *= base;
                    AT(slope, i) = EVERY((double)power) * before;
                }
            }
        } else {
            double power = op == RAISE ? argument / 4.0 : constants[*used], *logs = take(m);
            FOR_FOURS(i, n) {
                AT(logs, i) = NAME(log4)(EVERY(one) * IN(x, i));
                AT(value, i) = NAME(exp4)(EVERY(power) * IN(logs, i));
                if (m->slopes) AT(slope, i) = EVERY(power) * IN(value, i) / IN(x, i);
            }
            if (op == RAISE_FREE) {
                if (m->slopes) {
                    NAME(chain)(m, first, *used, slope, 0);
                    NAME(times)(logs, logs, value, n);
                    m->slope[*used] = logs, m->owned[*used] = 1;
                }
                ++*used;
                *top = value;
                return 1;
            }
        }
    }
    if (m->slopes) NAME(chain)(m, first, *used, slope, 0);
    *top = value;
    return 1;
}

/* Run a program: the terms of its root, and the slopes of each by the constants in it; false where one is undefined.
   With m->draws, constants that are not known are drawn on the way. */
static int NAME(run)(Machine *m, const Table *t, const int32_t *code, double *constants) {
    const double *value[MOST_STACK];
    int first[MOST_STACK], depth = 0, used = 0, terms = 0;
    m->top = m->arena, m->n = t->rows;
    for (const int32_t *at = code + HEADER, *end = at + 2 * code[0]; at < end; at += 2) {
        int op = at[0], argument = at[1];
        if (op == LOAD) {
            value[depth] = t->columns + argument * t->rows, first[depth++] = used;
        } else if (op == LOAD_POWER) {
            if (m->draws && isnan(constants[used])) constants[used] = sign(m) * between(m, 0.3, 4);
            const double *logs = t->columns + argument * t->rows;
            double *out = take(m), power = constants[used];
            FOR_FOURS(i, m->n) AT(out, i) = NAME(exp4)(EVERY(power) * IN(logs, i));
            if (m->slopes) {
                double *slope = take(m);
                NAME(times)(slope, out, logs, m->n);
                m->slope[used] = slope, m->owned[used] = 1;
            }
            value[depth] = out, first[depth++] = used++;
        } else if (op == MULTIPLY) {
            const double *left = value[depth - 2], *right = value[depth - 1];
            if (m->slopes) {
                NAME(chain)(m, first[depth - 2], first[depth - 1], right, 0);
                NAME(chain)(m, first[depth - 1], used, left, 0);
            }
            double *out = take(m);
            NAME(times)(out, left, right, m->n);
            value[--depth - 1] = out;
        } else if (op == SUM) {
            int count = argument & 255, first_is_one = argument >> 8 & 1, offset = argument >> 9, base = depth - count;
            if (m->draws) NAME(draw_sum)(m, value + base, count, first_is_one, offset, at + 2, constants + used);
            double *out = take(m);
            int place = used;
            double level = offset == ONE ? 1.0 : offset == FREE ? constants[used + count - first_is_one] : 0.0;
            FOR_FOURS(i, m->n) AT(out, i) = EVERY(level);
            for (int j = 0; j < count; j++) {
                double weight = j == 0 && first_is_one ? 1.0 : constants[place];
                NAME(add)(out, weight, value[base + j], m->n);
                if (m->slopes) {
                    int last = j + 1 < count ? first[base + j + 1] : used;
                    NAME(chain)(m, first[base + j], last, 0, weight);
                    if (!(j == 0 && first_is_one)) m->slope[place] = value[base + j], m->owned[place] = 0;
                }
                place += !(j == 0 && first_is_one);
            }
            if (offset == FREE) {
                if (m->slopes) m->slope[place] = t->ones, m->owned[place] = 0;
                place++;
            }
            used = place, depth = base + 1;
            value[base] = out;
        } else if (op == TERM) {
            m->term[terms] = value[--depth];
            for (int k = first[depth]; k < used; k++) m->term_of[k] = terms;
            terms++;
        } else {
            if (m->draws && op == RAISE_FREE && isnan(constants[used])) constants[used] = sign(m) * between(m, 0.3, 4);
            if (!NAME(apply)(m, op, argument, &value[depth - 1], first[depth - 1], constants, &used)) return 0;
        }
    }
    m->work += (int64_t)code[0] * m->n * (m->slopes ? 1 + code[2] : 1);
    return 1;
}

/* Solve for the weights of the terms: orthonormal columns, what is left of the target, and its square. */
static double NAME(project)(Machine *m, const Table *t, const int32_t *code) {
    int64_t n = t->rows;
    int terms = code[3], first = code[1] ? 0 : 1;
    double read[MOST_TERMS + 1], mixed[MOST_TERMS + 1][MOST_TERMS + 1];
    int live[MOST_TERMS + 1];
    m->left = take(m);
    memcpy(m->left, t->target, n * sizeof(double));
    for (int j = first; j <= terms; j++) { /* column 0 is the offset */
        double *q = take(m);
        if (j) NAME(times)(q, m->term[j - 1], t->weights, n);
        else memcpy(q, t->weights, n * sizeof(double));
        double before = NAME(dot)(q, q, n);
        if (!(before < 1e200)) return INFINITY;
        for (int l = first; l < j; l++) mixed[l][j] = 0;
        double after = before, reached = before;
        for (int pass = 0; pass < 2 && (pass == 0 || after < CANCELS * reached); pass++) {
            reached = after;
            for (int l = first; l < j; l++)
                if (live[l]) {
                    double d = NAME(dot)(m->basis[l], q, n);
                    mixed[l][j] += d;
                    NAME(add)(q, -d, m->basis[l], n);
                }
            after = NAME(dot)(q, q, n);
        }
        live[j] = after > INDEPENDENT * before && after > 0;
        m->basis[j] = q, read[j] = 0;
        if (!live[j]) {
            memset(q, 0, n * sizeof(double));
            continue;
        }
        double size = sqrt(after);
        mixed[j][j] = size;
        NAME(scaled)(q, 1 / size, q, n);
        read[j] = NAME(dot)(q, m->left, n);
        NAME(add)(m->left, -read[j], q, n);
    }
    for (int j = terms; j >= first; j--) {
        double sum = read[j];
        for (int l = j + 1; l <= terms; l++) sum -= mixed[j][l] * m->weight[l];
        m->weight[j] = live[j] ? sum / mixed[j][j] : 0;
    }
    if (first) m->weight[0] = 0;
    double square = NAME(dot)(m->left, m->left, n);
    m->work += n * (terms + 1) * (terms + 3);
    return square < INFINITY ? square : INFINITY;
}

static double NAME(value)(Machine *m, const Table *t, const int32_t *code, double *constants) {
    m->slopes = 0;
    return NAME(run)(m, t, code, constants) ? NAME(project)(m, t, code) : INFINITY;
}

/* The normal equations of the constants: slopes of the terms, free of what weights could take up (Kaufman). */
static double NAME(normal)(Machine *m, const Table *t, const int32_t *code, double *constants, Normal *out) {
    m->slopes = 1;
    if (!NAME(run)(m, t, code, constants)) return INFINITY;
    double square = NAME(project)(m, t, code);
    if (!(square < INFINITY)) return INFINITY;
    int count = code[2], first = code[1] ? 0 : 1;
    double *jacobian[MOST_CONSTANTS];
    for (int k = 0; k < count; k++) {
        double *j = jacobian[k] = take(m);
        double weight = m->weight[m->term_of[k] + 1];
        FOR_FOURS(i, m->n) AT(j, i) = EVERY(weight) * IN(m->slope[k], i) * IN(t->weights, i);
        for (int l = first; l <= code[3]; l++) NAME(add)(j, -NAME(dot)(m->basis[l], j, m->n), m->basis[l], m->n);
        out->toward[k] = NAME(dot)(j, m->left, m->n);
        for (int l = 0; l <= k; l++) out->matrix[k][l] = NAME(dot)(jacobian[l], j, m->n);
        if (!(out->matrix[k][k] < INFINITY)) return INFINITY;
    }
    m->work += m->n * count * (count + code[3]);
    return square;
}

static double NAME(improve)(Machine *m, const Table *t, const int32_t *code, double *constants, int steps, double least) {
    int count = code[2], stalled = 0;
    if (!count) return NAME(value)(m, t, code, constants);
    Normal here, there;
    double square = NAME(normal)(m, t, code, constants, &here), damping = 1e-2;
    if (!(square < INFINITY)) return INFINITY;
    for (int step = 0; step < steps && damping < MOST_DAMPING && square > NOTHING * t->square; step++) {
        double move[MOST_CONSTANTS], moved[MOST_CONSTANTS];
        int solved = solve(&here, count, damping, move);
        for (int k = 0; solved && k < count; k++) moved[k] = constants[k] + move[k];
        double tried = solved ? NAME(normal)(m, t, code, moved, &there) : INFINITY;
        if (tried < square) {
            stalled = square - tried < least * square ? stalled + 1 : 0;
            square = tried, here = there, damping = damping * 0.15 < 1e-12 ? 1e-12 : damping * 0.15;
            memcpy(constants, moved, count * sizeof(double));
            if (stalled > 1) break;
        } else damping *= 8;
    }
    return square;
}

static double NAME(fit_one)(Machine *m, const Table *t, const int32_t *code, double *constants, const Effort *effort,
                            uint64_t seed, int given) {
    int count = code[2];
    double best = INFINITY, found[MOST_CONSTANTS], start[2][MOST_CONSTANTS], worth[2] = {INFINITY, INFINITY};
    int unknown = 0;
    for (int k = 0; k < count; k++) {
        if (!given) constants[k] = NAN;
        unknown += isnan(constants[k]);
    }
    if (!unknown) {
        memcpy(found, constants, count * sizeof(double));
        best = NAME(improve)(m, t, code, found, effort->steps, effort->least);
    }
    int draws = seed && unknown ? 6 + 6 * unknown : 0;
    m->random = seed;
    for (int i = 0; i < (draws < effort->starts ? draws : effort->starts); i++) {
        double drawn[MOST_CONSTANTS];
        memcpy(drawn, constants, count * sizeof(double));
        m->draws = 1;
        double square = NAME(value)(m, t, code, drawn);
        m->draws = 0;
        int place = square < worth[0] ? 0 : square < worth[1] ? 1 : 2;
        if (place == 0) worth[1] = worth[0], memcpy(start[1], start[0], sizeof drawn);
        if (place < 2) worth[place] = square, memcpy(start[place], drawn, sizeof drawn);
    }
    for (int i = 0; i < 2; i++)
        if (worth[i] < INFINITY) {
            double square = NAME(improve)(m, t, code, start[i], effort->steps, effort->least);
            if (square < best) best = square, memcpy(found, start[i], count * sizeof(double));
        }
    if (best < INFINITY) {
        best = NAME(value)(m, t, code, found);
        memcpy(constants, found, count * sizeof(double));
        memcpy(constants + count, m->weight, (code[3] + 1) * sizeof(double));
    }
    return best;
}
