#include "instruction-sets.h"

namespace saccade {

std::vector<std::string> usableInstructionSets() {
  std::vector<std::string> names{"generic"};
#if defined(SACCADE_HAS_avx2)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) names.push_back("avx2");
#endif
#if defined(SACCADE_HAS_avx512)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")) {
    names.push_back("avx512");
#if defined(SACCADE_HAS_avx512bf16)
    if (__builtin_cpu_supports("avx512bf16")) names.push_back("avx512bf16");
#endif
  }
#endif
  return names;
}

}  // namespace saccade
