// The one place that names kernels, and it does so by including their list.
#include "catalog.h"

#include <stdexcept>

#if defined(SACCADE_HAS_generic)
#define KERNEL(id) extern "C" const SaccadeKernel saccade_##id##_generic;
#include SACCADE_CATALOG
#undef KERNEL
#endif
#if defined(SACCADE_HAS_avx2)
#define KERNEL(id) extern "C" const SaccadeKernel saccade_##id##_avx2;
#include SACCADE_CATALOG
#undef KERNEL
#endif
#if defined(SACCADE_HAS_avx2vnni)
#define KERNEL(id) extern "C" const SaccadeKernel saccade_##id##_avx2vnni;
#include SACCADE_CATALOG
#undef KERNEL
#endif
#if defined(SACCADE_HAS_avx512bf16)
#define KERNEL(id) extern "C" const SaccadeKernel saccade_##id##_avx512bf16;
#include SACCADE_CATALOG
#undef KERNEL
#endif
#if defined(SACCADE_HAS_avx512amx)
#define KERNEL(id) extern "C" const SaccadeKernel saccade_##id##_avx512amx;
#include SACCADE_CATALOG
#undef KERNEL
#endif
#if defined(SACCADE_HAS_avx512pairs)
#define KERNEL(id) extern "C" const SaccadeKernel saccade_##id##_avx512pairs;
#include SACCADE_CATALOG
#undef KERNEL
#endif
#if defined(SACCADE_HAS_avx512)
#define KERNEL(id) extern "C" const SaccadeKernel saccade_##id##_avx512;
#include SACCADE_CATALOG
#undef KERNEL
#endif

namespace saccade {

std::vector<const SaccadeKernel*> kernelsOf(const std::string& instructionSet) {
#if defined(SACCADE_HAS_generic)
  if (instructionSet == "generic") {
    return {
#define KERNEL(id) &saccade_##id##_generic,
#include SACCADE_CATALOG
#undef KERNEL
    };
  }
#endif
#if defined(SACCADE_HAS_avx2)
  if (instructionSet == "avx2") {
    return {
#define KERNEL(id) &saccade_##id##_avx2,
#include SACCADE_CATALOG
#undef KERNEL
    };
  }
#endif
#if defined(SACCADE_HAS_avx2vnni)
  if (instructionSet == "avx2vnni") {
    return {
#define KERNEL(id) &saccade_##id##_avx2vnni,
#include SACCADE_CATALOG
#undef KERNEL
    };
  }
#endif
#if defined(SACCADE_HAS_avx512)
  if (instructionSet == "avx512") {
    return {
#define KERNEL(id) &saccade_##id##_avx512,
#include SACCADE_CATALOG
#undef KERNEL
    };
  }
#endif
#if defined(SACCADE_HAS_avx512amx)
  if (instructionSet == "avx512amx") {
    return {
#define KERNEL(id) &saccade_##id##_avx512amx,
#include SACCADE_CATALOG
#undef KERNEL
    };
  }
#endif
#if defined(SACCADE_HAS_avx512bf16)
  if (instructionSet == "avx512bf16") {
    return {
#define KERNEL(id) &saccade_##id##_avx512bf16,
#include SACCADE_CATALOG
#undef KERNEL
    };
  }
#endif
#if defined(SACCADE_HAS_avx512pairs)
  if (instructionSet == "avx512pairs") {
    return {
#define KERNEL(id) &saccade_##id##_avx512pairs,
#include SACCADE_CATALOG
#undef KERNEL
    };
  }
#endif
  throw std::invalid_argument("no kernels were built for " + instructionSet);
}

}  // namespace saccade
