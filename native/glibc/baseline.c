// What the compiler's own library takes from glibc newer than 2.28.
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

// 2.32. Never true, so that counters of shared pointers are atomic from the start.
char __libc_single_threaded = 0;

// 2.36. Random devices of the C++ library; none of the addon's own code has one.
uint32_t arc4random(void) {
  uint32_t value;
  if (getrandom(&value, sizeof value, 0) != sizeof value) abort();
  return value;
}
