#include "instruction-sets.h"

namespace saccade {

#if defined(SACCADE_HAS_avx512)
namespace {

bool hasAvx512() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
}

}  // namespace
#endif

std::vector<std::string> usableInstructionSets() {
  std::vector<std::string> names{"generic"};
#if defined(SACCADE_HAS_avx2)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) names.push_back("avx2");
#endif
#if defined(SACCADE_HAS_avx512)
  if (hasAvx512()) {
    names.push_back("avx512");
#if defined(SACCADE_HAS_avx512bf16)
    if (__builtin_cpu_supports("avx512bf16")) names.push_back("avx512bf16");
#endif
  }
#endif
  return names;
}

std::vector<std::string> emulatedInstructionSets() {
#if defined(SACCADE_HAS_avx512pairs)
  if (hasAvx512()) return {"avx512pairs"};
#endif
  return {};
}

}  // namespace saccade
