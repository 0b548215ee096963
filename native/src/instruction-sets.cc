#include "instruction-sets.h"

// Kernels may be compiled for one of them and not for those that it includes.
#if defined(SACCADE_HAS_avx512) || defined(SACCADE_HAS_avx512bf16) || \
    defined(SACCADE_HAS_avx512pairs) || defined(SACCADE_HAS_avx512amx)
#define SACCADE_ASKS_FOR_AVX512
#endif

#if defined(SACCADE_HAS_avx512amx) || defined(SACCADE_HAS_avx2vnni)
#include <cpuid.h>
#endif
#if defined(SACCADE_HAS_avx512amx)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace saccade {

#if defined(SACCADE_ASKS_FOR_AVX512)
namespace {

bool hasAvx512() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
}

}  // namespace
#endif

#if defined(SACCADE_HAS_avx512amx)
namespace {

// Whether the processor has AMX for bf16 and int8, and the system lets this process keep its tiles,
// which it must be asked for once; threads that exist take part.
bool hasAmx() {
  static const bool answer = [] {
    constexpr unsigned ALL = 1u << 22 | 1u << 24 | 1u << 25;  // bf16, tiles, int8
    constexpr int REQUEST_PERMISSION = 0x1023, TILE_DATA = 18;
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
    if ((d & ALL) != ALL) return false;
    return syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
  }();
  return answer;
}

}  // namespace
#endif

#if defined(SACCADE_HAS_avx2vnni)
namespace {

// Dot products of integers without AVX-512, which compilers ask for under different names.
bool hasVnni() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & 1u << 4) != 0;
}

}  // namespace
#endif

std::vector<std::string> usableInstructionSets() {
  std::vector<std::string> names;
#if defined(SACCADE_HAS_generic)
  names.push_back("generic");
#endif
#if defined(SACCADE_HAS_avx2)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) names.push_back("avx2");
#endif
#if defined(SACCADE_HAS_avx2vnni)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && hasVnni()) {
    names.push_back("avx2vnni");
  }
#endif
#if defined(SACCADE_HAS_avx512)
  if (hasAvx512()) names.push_back("avx512");
#endif
#if defined(SACCADE_HAS_avx512bf16)
  // Its kernels use the dot product of bytes as well, which a hypervisor may hide.
  if (hasAvx512() && __builtin_cpu_supports("avx512bf16") &&
      __builtin_cpu_supports("avx512vnni")) {
    names.push_back("avx512bf16");
  }
#endif
#if defined(SACCADE_HAS_avx512amx)
  if (hasAvx512() && hasAmx()) names.push_back("avx512amx");
#endif
  return names;
}

std::vector<std::string> emulatedInstructionSets() {
  std::vector<std::string> names;
#if defined(SACCADE_HAS_avx512pairs)
  if (hasAvx512()) names.push_back("avx512pairs");
#endif
  return names;
}

}  // namespace saccade
