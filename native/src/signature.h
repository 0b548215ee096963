// A kernel's signature, read: which operands a launch has and how long each must be.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace saccade {

struct OperandRule {
  std::string name;
  // Positions in the launch's dims whose product is the number of elements.
  std::vector<int32_t> axes;
  bool mayBeAbsent = false;
  // Stored in the launch's storage type; otherwise in four bytes.
  bool isStored = true;
  // Stored in two bytes in a launch of mixed storage.
  bool isWeight = false;
  // Index in the same launch of the operand whose memory this one shares; -1: none.
  int32_t inPlaceOf = -1;
  bool written = false;
};

struct Signature {
  // Axis letters in the order the dims are passed.
  std::vector<std::string> axes;
  std::vector<std::string> scalars;
  std::vector<OperandRule> forward;
  std::vector<OperandRule> backward;
};

// Reads the grammar of kernel.h. Throws std::invalid_argument where it is broken.
Signature readSignature(const std::string& text);

}  // namespace saccade
