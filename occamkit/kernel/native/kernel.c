/* Fits of many formulas with free constants. See the page on the kernel in the docs; `plain.py` does the same in numpy. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LOAD, LOAD_POWER, MULTIPLY, SUM, TERM, EXP, LOG, SIN, COS, TANH, RAISE, RAISE_FREE, OUTSIDE };
enum { NONE, ONE, FREE };
enum { HEADER = 4, MOST_CONSTANTS = 24, MOST_TERMS = 20, MOST_STACK = 40 };

#define LEAST 1e-300
#define TINY_SPREAD 1e-12
#define HUGE_SPREAD 1e12
#define INDEPENDENT 1e-18
#define CANCELS 0.25 /* a column that loses more is made orthogonal a second time */
#define NOTHING 1e-32
#define MOST_DAMPING 1e9

typedef void (*Outside)(int32_t which, int64_t rows, const double *x, double *value, double *slope);

typedef struct {
    int64_t rows; /* a multiple of eight; those that fill up have weight 0 */
    double square; /* of the target, about its mean */
    const double *columns, *weights, *target, *ones;
} Table;

typedef struct {
    int32_t starts, steps;
    double least; /* a step that gains a smaller part than this, twice, is the last */
} Effort;

typedef struct {
    double matrix[MOST_CONSTANTS][MOST_CONSTANTS], toward[MOST_CONSTANTS];
} Normal;

typedef struct {
    double *arena, *top;
    int64_t n, work;
    int slopes, draws;
    uint64_t random;
    Outside outside;
    const double *slope[MOST_CONSTANTS], *term[MOST_TERMS];
    int owned[MOST_CONSTANTS], term_of[MOST_CONSTANTS];
    double *basis[MOST_TERMS + 1], *left, weight[MOST_TERMS + 1];
} Machine;

static double *take(Machine *m) {
    double *taken = m->top;
    m->top += m->n;
    return taken;
}

static double uniform(Machine *m) { /* splitmix64 */
    uint64_t z = m->random += 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return (double)((z ^ (z >> 31)) >> 11) * (1.0 / 9007199254740992.0);
}
static double between(Machine *m, double low, double high) { return low * exp(uniform(m) * log(high / low)); }
static double sign(Machine *m) { return uniform(m) < 0.5 ? -1 : 1; }

static int solve(const Normal *normal, int n, double damping, double *x) { /* Cholesky */
    double lower[MOST_CONSTANTS][MOST_CONSTANTS];
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double a = normal->matrix[i][j] * (i == j ? 1 + damping : 1);
            for (int k = 0; k < j; k++) a -= lower[i][k] * lower[j][k];
            if (i == j && !(a > 0)) return 0;
            lower[i][j] = i == j ? sqrt(a) : a / lower[j][j];
        }
    for (int i = 0; i < n; i++) {
        x[i] = normal->toward[i];
        for (int k = 0; k < i; k++) x[i] -= lower[i][k] * x[k];
        x[i] /= lower[i][i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) x[i] -= lower[k][i] * x[k];
        x[i] /= lower[i][i];
    }
    return 1;
}

#define NAME(x) x##_plain
#include "functions.h"
#include "formulas.h"
#undef NAME

#if defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("avx2")
#define NAME(x) x##_wide
#undef EVERY
#undef EVERY_BIT
#undef ROUNDER
#include "functions.h"
#undef FOR_FOURS
#undef AT
#undef IN
#include "formulas.h"
#undef NAME
#pragma GCC pop_options
static int wide(void) { return __builtin_cpu_supports("avx2"); }
#else
#define fit_one_wide fit_one_plain
static int wide(void) { return 0; }
#endif

int64_t occamkit_kernel_version(void) { return 3; }

/* Fit formulas: constants of each start at places[i], come in if given[i], and go out with the weights of its terms.
   Returns the numbers computed, roughly; -1 without memory. */
int64_t occamkit_fit(const Table *table, int64_t count, const int32_t *code, const int64_t *starts_at, double *constants,
                     const int64_t *places, const uint64_t *seeds, const int8_t *given, const Effort *effort,
                     double *left, Outside outside) {
    int64_t most = 0;
    for (int64_t i = 0; i < count; i++) {
        const int32_t *one = code + starts_at[i];
        int64_t needed = (int64_t)one[0] * (4 + one[2]) + 2 * (one[2] + one[3]) + 8;
        most = needed > most ? needed : most;
    }
    Machine *m = calloc(1, sizeof *m);
    if (!m) return -1;
    m->arena = aligned_alloc(64, ((most * table->rows * sizeof(double)) | 63) + 1);
    m->outside = outside;
    if (!m->arena) return free(m), -1;
    double (*fit_one)(Machine *, const Table *, const int32_t *, double *, const Effort *, uint64_t, int) =
        wide() ? fit_one_wide : fit_one_plain;
    for (int64_t i = 0; i < count; i++)
        left[i] = fit_one(m, table, code + starts_at[i], constants + places[i], effort, seeds[i], given[i]);
    int64_t work = m->work;
    free(m->arena);
    free(m);
    return work;
}
