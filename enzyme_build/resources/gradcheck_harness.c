/* A gradcheck harness: the engine that measures one rule. The adapter, which knows the rule, is put in at ADAPTER.
   It prints facts as JSON lines; what they are worth is judged elsewhere.

   The state of a call is everything it can see: the numbers and arrays it is given, and its result. With X before and
   Y after, a reverse rule must turn the shadows W of Y into the shadows G = J'W of X: arrays are before and after one
   and the same memory, so an array that is only read has the identity in J (its shadow is added to), and one that is
   only written has zero rows there (its shadow is cleared). A forward rule must turn V into JV in the same way.

   usage: harness FIRST_SEED COUNT SECONDS FINAL     (FINAL 1: measure allocations and times at the end) */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <float.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef long double number;
enum type { FLOAT, DOUBLE, LONG_DOUBLE };
enum kind { NUMBER, ARRAY, RESULT };
struct slot {
  const char *name;
  enum type type;
  enum kind kind;
  size_t count;
  double low, high; /* of the values; low > high leaves the range to the engine */
  int kept;         /* the caller does not overwrite this array before the derivative is computed */
  int packed;       /* the rule gets a copy: it cannot be inactive by itself */
  void *value, *shadow;
  int inactive;
};
/* local symbols of these names would hide functions of the library that have them too; so below */
#define slots gradcheck_slots
#define call_primal gradcheck_call_primal
#define call_augmented gradcheck_call_augmented
#define call_gradient gradcheck_call_gradient
#define call_tangent gradcheck_call_tangent
#define VALUE(type, index) (*(type *)slots[index].value)
#define SHADOW(index) (slots[index].inactive ? slots[index].value : slots[index].shadow)

/* ADAPTER */

#define alive gradcheck_alive
#define allocate gradcheck_allocate
#define arena gradcheck_arena
#define arena_used gradcheck_arena_used
#define call_names gradcheck_call_names
#define call_once gradcheck_call_once
#define choose_range gradcheck_choose_range
#define chosen gradcheck_chosen
#define counted gradcheck_counted
#define counting gradcheck_counting
#define draw gradcheck_draw
#define draw_weights gradcheck_draw_weights
#define evaluate gradcheck_evaluate
#define forward gradcheck_forward
#define from_arena gradcheck_from_arena
#define get gradcheck_get
#define high_of gradcheck_high_of
#define in_arena gradcheck_in_arena
#define is_finite gradcheck_is_finite
#define is_input gradcheck_is_input
#define load gradcheck_load
#define look_at_guards gradcheck_look_at_guards
#define low_of gradcheck_low_of
#define make_call gradcheck_make_call
#define measure gradcheck_measure
#define measure_calls gradcheck_measure_calls
#define measure_course gradcheck_measure_course
#define measure_forward gradcheck_measure_forward
#define measure_reverse gradcheck_measure_reverse
#define measure_slopes gradcheck_measure_slopes
#define now gradcheck_now
#define offset gradcheck_offset
#define on_exit_ gradcheck_on_exit_
#define on_signal gradcheck_on_signal
#define out gradcheck_out
#define precision gradcheck_precision
#define print_number gradcheck_print_number
#define print_slope gradcheck_print_slope
#define print_vector gradcheck_print_vector
#define ranges gradcheck_ranges
#define real gradcheck_real
#define reverse gradcheck_reverse
#define scale_of gradcheck_scale_of
#define seed_with gradcheck_seed_with
#define set gradcheck_set
#define slot_of gradcheck_slot_of
#define stage gradcheck_stage
#define state gradcheck_state
#define store gradcheck_store
#define total gradcheck_total
#define uniform gradcheck_uniform
#define vector gradcheck_vector
#define weight gradcheck_weight
#define width gradcheck_width

#ifndef COMBINED
#define COMBINED 0 /* 1: augmented and gradient are one call, which starts from X */
#endif
enum { SLOTS = sizeof slots / sizeof *slots, GUARD = 64, STEPS = 10, DIRECTIONS = 40 };

static FILE *out;
static const char *stage = "start";
static size_t total, offset[SLOTS];

/* --- memory is counted while `counting` is set; the definitions here stand in for those of every library --- */

static long alive;
static int counting;
static char arena[65536]; /* what dlsym allocates before the real functions are known */
static size_t arena_used;

static void *from_arena(size_t size) {
  void *block = arena + arena_used;
  arena_used += (size + 15) & ~(size_t)15;
  return arena_used <= sizeof arena ? block : NULL;
}

static int in_arena(const void *block) { return (const char *)block >= arena && (const char *)block < arena + sizeof arena; }

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

static void *counted(void *block) {
  if (counting && block) __atomic_add_fetch(&alive, 1, __ATOMIC_RELAXED);
  return block;
}

void *malloc(size_t size) {
  static void *(*next)(size_t);
  static int searching;
  if (!next && searching) return from_arena(size);
  if (!next) {
    searching = 1;
    next = (void *(*)(size_t))real("malloc");
  }
  return counted(next(size));
}

void *calloc(size_t items, size_t size) {
  static void *(*next)(size_t, size_t);
  static int searching;
  if (!next && searching) return from_arena(items * size);
  if (!next) {
    searching = 1;
    next = (void *(*)(size_t, size_t))real("calloc");
  }
  return counted(next(items, size));
}

void *realloc(void *block, size_t size) {
  static void *(*next)(void *, size_t);
  if (!next) next = (void *(*)(void *, size_t))real("realloc");
  if (in_arena(block)) return NULL;
  void *moved = next(block, size);
  if (counting && !block && moved) __atomic_add_fetch(&alive, 1, __ATOMIC_RELAXED);
  if (counting && block && !size) __atomic_sub_fetch(&alive, 1, __ATOMIC_RELAXED);
  return moved;
}

void *aligned_alloc(size_t alignment, size_t size) {
  static void *(*next)(size_t, size_t);
  if (!next) next = (void *(*)(size_t, size_t))real("aligned_alloc");
  return counted(next(alignment, size));
}

int posix_memalign(void **block, size_t alignment, size_t size) {
  static int (*next)(void **, size_t, size_t);
  if (!next) next = (int (*)(void **, size_t, size_t))real("posix_memalign");
  int failed = next(block, alignment, size);
  if (!failed) counted(*block);
  return failed;
}

void free(void *block) {
  static void (*next)(void *);
  if (!next) next = (void (*)(void *))real("free");
  if (!block || in_arena(block)) return;
  if (counting) __atomic_sub_fetch(&alive, 1, __ATOMIC_RELAXED);
  next(block);
}

/* --- random numbers: splitmix64, the same on every machine --- */

static uint64_t state;

static void seed_with(uint64_t seed, uint64_t stream) { state = seed * 0x9E3779B97F4A7C15u + stream * 0xD1B54A32D192ED03u; }

static double uniform(void) {
  uint64_t z = state += 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static double weight(void) { return (uniform() < 0.5 ? -1 : 1) * (0.25 + 0.75 * uniform()); }

/* --- the state --- */

static number get(enum type type, const void *memory, size_t at) {
  return type == FLOAT ? ((const float *)memory)[at] : type == DOUBLE ? ((const double *)memory)[at] : ((const number *)memory)[at];
}

static void set(enum type type, void *memory, size_t at, number value) {
  if (type == FLOAT) ((float *)memory)[at] = (float)value;
  else if (type == DOUBLE) ((double *)memory)[at] = (double)value;
  else ((number *)memory)[at] = value;
}

static size_t width(enum type type) { return type == FLOAT ? sizeof(float) : type == DOUBLE ? sizeof(double) : sizeof(number); }

static void load(const number *from, int shadow) {
  for (int s = 0; s < SLOTS; s++)
    for (size_t i = 0; i < slots[s].count; i++)
      set(slots[s].type, shadow ? slots[s].shadow : slots[s].value, i, from[offset[s] + i]);
}

static void store(number *to, int shadow) {
  for (int s = 0; s < SLOTS; s++)
    for (size_t i = 0; i < slots[s].count; i++)
      to[offset[s] + i] = get(slots[s].type, shadow ? slots[s].shadow : slots[s].value, i);
}

static number *vector(void) {
  number *made = calloc(total + 1, sizeof *made);
  if (!made) abort();
  return made;
}

/* Behind each array is a guard of ones, and of zeros behind its shadow, as if that memory were constant. */
static void allocate(void) {
  for (int s = 0; s < SLOTS; s++) {
    size_t bytes = (slots[s].count + GUARD) * width(slots[s].type);
    slots[s].value = aligned_alloc(64, (bytes + 63) & ~(size_t)63);
    slots[s].shadow = aligned_alloc(64, (bytes + 63) & ~(size_t)63);
    if (!slots[s].value || !slots[s].shadow) abort();
    for (size_t i = 0; i < slots[s].count + GUARD; i++) {
      set(slots[s].type, slots[s].value, i, 1);
      set(slots[s].type, slots[s].shadow, i, 0);
    }
    offset[s] = total;
    total += slots[s].count;
  }
}

/* Tell, once, which array was written to behind its end: then its size is not the one that was assumed. */
static void look_at_guards(void) {
  static int told[SLOTS];
  for (int s = 0; s < SLOTS; s++)
    for (size_t i = slots[s].count; i < slots[s].count + GUARD && !told[s]; i++)
      if (get(slots[s].type, slots[s].value, i) != 1 || get(slots[s].type, slots[s].shadow, i) != 0) {
        fprintf(out, "{\"kind\": \"overrun\", \"slot\": \"%s\", \"index\": %zu}\n", slots[s].name, i);
        told[s] = 1;
      }
}

/* --- printing --- */

static void print_number(number value) {
  if (isnan(value)) fputs("NaN", out);
  else if (isinf(value)) fputs(value > 0 ? "Infinity" : "-Infinity", out);
  else fprintf(out, "%.17Lg", value);
}

static void print_vector(const char *key, const number *values, size_t count_) {
  fprintf(out, ", \"%s\": [", key);
  for (size_t i = 0; i < count_; i++) {
    if (i) fputs(", ", out);
    print_number(values[i]);
  }
  fputc(']', out);
}

static void on_signal(int number_) {
  char text[256];
  int length = snprintf(text, sizeof text, "\n{\"kind\": \"crash\", \"stage\": \"%s\", \"signal\": %d}\n", stage, number_);
  if (write(fileno(out), text, (size_t)length) < 0) _exit(3);
  _exit(0);
}

static void on_exit_(void) { /* the function under test ended the program */
  if (strcmp(stage, "end")) fprintf(out, "\n{\"kind\": \"crash\", \"stage\": \"%s\", \"signal\": 0}\n", stage);
  fflush(out);
}

/* --- evaluating --- */

static double low_of(int s), high_of(int s);
static const double ranges[][2] = {{0.5, 1.5}, {0.1, 0.9}, {1.1, 2.5}, {-0.9, -0.1}, {-1.5, -0.5}};
static int chosen;

static double low_of(int s) { return slots[s].low <= slots[s].high ? slots[s].low : ranges[chosen][0]; }
static double high_of(int s) { return slots[s].low <= slots[s].high ? slots[s].high : ranges[chosen][1]; }

static void draw(number *to, uint64_t seed, uint64_t stream) {
  seed_with(seed, stream);
  for (int s = 0; s < SLOTS; s++)
    for (size_t i = 0; i < slots[s].count; i++)
      to[offset[s] + i] = slots[s].kind == RESULT ? 0 : low_of(s) + (high_of(s) - low_of(s)) * uniform();
  load(to, 0);
  store(to, 0); /* rounded to the type */
}

static void draw_weights(number *to, uint64_t seed, uint64_t stream) {
  seed_with(seed, stream);
  for (int s = 0; s < SLOTS; s++)
    for (size_t i = 0; i < slots[s].count; i++)
      to[offset[s] + i] = slots[s].kind == NUMBER ? 0 : weight(); /* the caller's copy of a number is not the callee's */
  load(to, 1);
  store(to, 1);
}

static void evaluate(const number *x, number *y) {
  load(x, 0);
  stage = "primal";
  call_primal();
  stage = "between calls";
  store(y, 0);
}

static int is_finite(const number *values) {
  for (size_t i = 0; i < total; i++)
    if (!isfinite(values[i])) return 0;
  return 1;
}

static int is_input(size_t at) {
  int s = 0;
  while (s + 1 < SLOTS && offset[s + 1] <= at) s++;
  return slots[s].kind != RESULT;
}

static int slot_of(size_t at) {
  int s = 0;
  while (s + 1 < SLOTS && (offset[s + 1] <= at)) s++;
  return s;
}

static number precision(void) {
  number eps = 0;
  for (int s = 0; s < SLOTS; s++) {
    number own = slots[s].type == FLOAT ? FLT_EPSILON : slots[s].type == DOUBLE ? DBL_EPSILON : LDBL_EPSILON;
    if (own > eps) eps = own;
  }
  return eps;
}

/* --- reverse mode --- */

#if HAS_REVERSE
/* One augmented and one gradient call. `memory` is what the gradient left; `scramble` overwrites the arrays between. */
static void reverse(const number *x, const number *w, number *y, number *g, number *memory, const number *scramble) {
  load(x, 0);
  load(w, 1);
  if (!COMBINED) {
    stage = "augmented";
    call_augmented();
    stage = "between calls";
    store(y, 0);
  }
  if (scramble)
    for (int s = 0; s < SLOTS; s++)
      for (size_t i = 0; i < slots[s].count; i++)
        if (slots[s].kind == ARRAY && !slots[s].kept) set(slots[s].type, slots[s].value, i, scramble[offset[s] + i]);
  stage = "gradient";
  call_gradient();
  stage = "between calls";
  store(memory, 0);
  if (COMBINED) store(y, 0);
  store(g, 1);
  look_at_guards();
}

static void measure_reverse(uint64_t seed, const number *x, const number *w) {
  number *y = vector(), *g = vector(), *memory = vector(), *other = vector(), *again = vector();
  reverse(x, w, y, g, memory, NULL);
  reverse(x, w, other, again, other, NULL);
  fprintf(out, "{\"kind\": \"reverse\", \"seed\": %llu", (unsigned long long)seed);
  print_vector("weights", w, total);
  print_vector("adjoints", g, total);
  print_vector("again", again, total);
  print_vector("outputs", y, total);
  print_vector("memory", memory, total);
  fputs("}\n", out);
  if (!COMBINED) {
    number *scramble = vector();
    draw(scramble, seed, 4);
    reverse(x, w, y, again, memory, scramble);
    fprintf(out, "{\"kind\": \"overwritten\", \"seed\": %llu", (unsigned long long)seed);
    print_vector("adjoints", again, total);
    fputs("}\n", out);
    free(scramble);
    for (int s = 0; s < SLOTS; s++) {
      if (slots[s].kind != ARRAY || slots[s].packed) continue;
      number *without = vector();
      memcpy(without, w, total * sizeof *w);
      for (size_t i = 0; i < slots[s].count; i++) without[offset[s] + i] = 0;
      reverse(x, without, y, g, memory, NULL);
      slots[s].inactive = 1;
      reverse(x, w, y, again, memory, NULL);
      slots[s].inactive = 0;
      fprintf(out, "{\"kind\": \"inactive\", \"seed\": %llu, \"slot\": \"%s\"", (unsigned long long)seed, slots[s].name);
      print_vector("expected", g, total);
      print_vector("adjoints", again, total);
      print_vector("outputs", y, total);
      print_vector("memory", memory, total);
      fputs("}\n", out);
      free(without);
    }
  }
  free(y), free(g), free(memory), free(other), free(again);
}
#endif

/* --- forward mode --- */

#if HAS_FORWARD
static void forward(const number *x, const number *v, number *y, number *t) {
  load(x, 0);
  load(v, 1);
  stage = "tangent";
  call_tangent();
  stage = "between calls";
  store(y, 0);
  store(t, 1);
  look_at_guards();
}

static void measure_forward(uint64_t seed, const number *x, const number *v) {
  number *y = vector(), *t = vector(), *other = vector(), *again = vector();
  forward(x, v, y, t);
  forward(x, v, other, again);
  fprintf(out, "{\"kind\": \"forward\", \"seed\": %llu", (unsigned long long)seed);
  print_vector("tangents", t, total);
  print_vector("again", again, total);
  print_vector("outputs", y, total);
  fputs("}\n", out);
  free(y), free(t), free(other), free(again);
}
#endif

/* --- differences of the primal --- */

static number scale_of(size_t at, const number *x) {
  int s = slot_of(at);
  number half = (high_of(s) - low_of(s)) / 2, size = fabsl(x[at]);
  number largest = size > half ? size : half;
  return largest > 0 ? largest : 1;
}

/* Central differences of w'Y for one element of X, in halving steps, each with its rounding error. */
static void print_slope(uint64_t seed, size_t at, const number *x, const number *w, number *moved, number *up, number *down) {
  number values[STEPS], noise[STEPS], steps[STEPS], eps = precision();
  for (int k = 0; k < STEPS; k++) {
    number h = ldexpl(0.05L * scale_of(at, x), -k), high, low, difference = 0, error = 0;
    memcpy(moved, x, total * sizeof *x);
    moved[at] = x[at] + h;
    load(moved, 0);
    store(moved, 0);
    high = moved[at];
    evaluate(moved, up);
    moved[at] = x[at] - h;
    load(moved, 0);
    store(moved, 0);
    low = moved[at];
    evaluate(moved, down);
    for (size_t j = 0; j < total; j++)
      if (up[j] != down[j] && slots[slot_of(j)].kind != NUMBER) {
        difference += w[j] * (up[j] - down[j]);
        error += eps * fabsl(w[j]) * (fabsl(up[j]) + fabsl(down[j]));
      }
    steps[k] = (high - low) / 2;
    values[k] = difference / (high - low);
    noise[k] = error / (high - low);
  }
  fprintf(out, "{\"kind\": \"slope\", \"seed\": %llu, \"at\": %zu", (unsigned long long)seed, at);
  print_vector("steps", steps, STEPS);
  print_vector("values", values, STEPS);
  print_vector("noise", noise, STEPS);
  fputs("}\n", out);
}

static void measure_slopes(uint64_t seed, const number *x, const number *w) {
  size_t inputs = 0, *which = calloc(total + 1, sizeof *which);
  number *moved = vector(), *up = vector(), *down = vector();
  if (!which) abort();
  for (size_t at = 0; at < total; at++)
    if (is_input(at)) which[inputs++] = at;
  seed_with(seed, 5);
  for (size_t i = 0; i < inputs && inputs > DIRECTIONS; i++) { /* shuffled, so that other elements come in other seeds */
    size_t other = i + (size_t)(uniform() * (double)(inputs - i)), kept = which[i];
    which[i] = which[other], which[other] = kept;
  }
  for (size_t i = 0; i < inputs && i < DIRECTIONS; i++) print_slope(seed, which[i], x, w, moved, up, down);
  free(which), free(moved), free(up), free(down);
}

/* Along v: central differences of every element of Y, and how much w'Y rises in one direction (for Taylor's order). */
static void measure_course(uint64_t seed, const number *x, const number *w, const number *v) {
  number *moved = vector(), *up = vector(), *down = vector(), *here = vector(), eps = precision();
  number steps[STEPS], rises[STEPS], errors[STEPS];
  evaluate(x, here);
  fprintf(out, "{\"kind\": \"course\", \"seed\": %llu, \"values\": [", (unsigned long long)seed);
  number *noise = calloc(total * STEPS + 1, sizeof *noise);
  if (!noise) abort();
  for (int k = 0; k < STEPS; k++) {
    number t = ldexpl(0.05L, -k);
    for (size_t i = 0; i < total; i++) moved[i] = x[i] + t * v[i];
    evaluate(moved, up);
    for (size_t i = 0; i < total; i++) moved[i] = x[i] - t * v[i];
    evaluate(moved, down);
    steps[k] = t, rises[k] = errors[k] = 0;
    fputs(k ? ", [" : "[", out);
    for (size_t j = 0; j < total; j++) {
      if (j) fputs(", ", out);
      print_number((up[j] - down[j]) / (2 * t));
      noise[k * total + j] = eps * (fabsl(up[j]) + fabsl(down[j])) / (2 * t);
      if (slots[slot_of(j)].kind != NUMBER) {
        rises[k] += w[j] * (up[j] - here[j]);
        errors[k] += eps * fabsl(w[j]) * (fabsl(up[j]) + fabsl(here[j]));
      }
    }
    fputc(']', out);
  }
  fputs("], \"noise\": [", out);
  for (int k = 0; k < STEPS; k++) {
    fputs(k ? ", [" : "[", out);
    for (size_t j = 0; j < total; j++) {
      if (j) fputs(", ", out);
      fprintf(out, "%.3Lg", noise[k * total + j]);
    }
    fputc(']', out);
  }
  fputc(']', out);
  print_vector("steps", steps, STEPS);
  print_vector("rises", rises, STEPS);
  print_vector("errors", errors, STEPS);
  fputs("}\n", out);
  free(moved), free(up), free(down), free(here), free(noise);
}

static void measure(uint64_t seed) {
  number *x = vector(), *y = vector(), *again = vector(), *w = vector(), *v = vector();
  draw(x, seed, 1);
  evaluate(x, y);
  look_at_guards();
  evaluate(x, again);
  fprintf(out, "{\"kind\": \"primal\", \"seed\": %llu", (unsigned long long)seed);
  print_vector("inputs", x, total);
  print_vector("outputs", y, total);
  print_vector("again", again, total);
  fputs("}\n", out);
  if (is_finite(y)) {
    draw_weights(w, seed, 2);
    seed_with(seed, 3);
    for (size_t i = 0; i < total; i++) v[i] = is_input(i) ? weight() * scale_of(i, x) : 0;
    load(v, 1);
    store(v, 1);
    fprintf(out, "{\"kind\": \"directions\", \"seed\": %llu", (unsigned long long)seed);
    print_vector("weights", w, total);
    print_vector("directions", v, total);
    fputs("}\n", out);
    measure_slopes(seed, x, w);
    measure_course(seed, x, w, v);
#if HAS_REVERSE
    measure_reverse(seed, x, w);
#endif
#if HAS_FORWARD
    measure_forward(seed, x, v);
#endif
  }
  free(x), free(y), free(again), free(w), free(v);
  fflush(out);
}

/* --- what is measured once --- */

enum call { PRIMAL, REVERSE, FORWARD, CALLS };
static const char *const call_names[] = {"primal", "reverse", "forward"};

/* Make one call of this kind; false if there is none. */
static int make_call(enum call which) {
  stage = call_names[which];
  if (which == PRIMAL) {
    call_primal();
    return 1;
  }
#if HAS_REVERSE
  if (which == REVERSE) {
    if (!COMBINED) call_augmented();
    call_gradient();
    return 1;
  }
#endif
#if HAS_FORWARD
  if (which == FORWARD) {
    call_tangent();
    return 1;
  }
#endif
  return 0;
}

static int call_once(enum call which, const number *x, const number *w) {
  load(x, 0);
  load(w, 1);
  return make_call(which);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void measure_calls(uint64_t seed) {
  enum { WARM = 2, COUNTED = 8 };
  number *x = vector(), *w = vector();
  draw(x, seed, 1);
  draw_weights(w, seed, 2);
  for (int which = PRIMAL; which < CALLS; which++) {
    int there = 1;
    for (int i = 0; i < WARM && there; i++) there = call_once(which, x, w);
    if (!there) continue;
    alive = 0, counting = 1;
    for (int i = 0; i < COUNTED; i++) call_once(which, x, w);
    counting = 0;
    double best = 1e300, clock = 1e300, begun = now(), spent = 0;
    for (int round = 0; round < 1000 && spent < 2e7; round++) {
      load(x, 0), load(w, 1);
      double idle = now(), start = now();
      make_call(which);
      double end = now();
      if (start - idle < clock) clock = start - idle;
      if (end - start < best) best = end - start;
      spent = end - begun;
    }
    best = best > clock ? best - clock : 0;
    fprintf(out, "{\"kind\": \"calls\", \"mode\": \"%s\", \"count\": %d, \"alive\": %ld, \"nanoseconds\": %.0f}\n",
            call_names[which], COUNTED, alive, best);
  }
  free(x), free(w);
}

static void choose_range(uint64_t seed) {
  number *x = vector(), *y = vector();
  int candidates = (int)(sizeof ranges / sizeof *ranges), good = 0;
  for (int candidate = 0; candidate < candidates && !good; candidate++) {
    chosen = candidate, good = 1;
    for (uint64_t i = 0; i < 3 && good; i++) {
      draw(x, seed + i, 1);
      evaluate(x, y);
      good = is_finite(y);
    }
  }
  if (!good) chosen = 0;
  fprintf(out, "{\"kind\": \"range\", \"low\": %g, \"high\": %g, \"finite\": %s}\n", ranges[chosen][0], ranges[chosen][1],
          good ? "true" : "false");
  free(x), free(y);
}

int main(int argc, char **argv) {
  if (argc != 5) return 2;
  uint64_t first = strtoull(argv[1], NULL, 10), seeds = strtoull(argv[2], NULL, 10);
  out = fdopen(dup(1), "w"); /* what the library prints must not get between the facts */
  if (!out || dup2(2, 1) < 0) return 2;
  int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) signal(signals[i], on_signal);
  atexit(on_exit_);
  alarm((unsigned)strtoul(argv[3], NULL, 10));
  allocate();
  choose_range(0); /* the same for every batch of seeds */
  for (uint64_t i = 0; i < seeds; i++) measure(first + i);
  if (argv[4][0] == '1') measure_calls(first);
  stage = "end";
  return 0;
}
