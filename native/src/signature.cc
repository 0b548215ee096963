#include "signature.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace saccade {
namespace {

struct Declared {
  OperandRule rule;
  bool differentiable = false;
  // The gradient is float32 whatever the storage.
  bool wideGradient = false;
  std::string inPlaceOf;
};

int32_t axisIndex(std::vector<std::string>& axes, const std::string& axis) {
  const auto found = std::find(axes.begin(), axes.end(), axis);
  if (found != axes.end()) return static_cast<int32_t>(found - axes.begin());
  axes.push_back(axis);
  return static_cast<int32_t>(axes.size()) - 1;
}

// name[A,B] followed by any of ' + ? # ! ~ and =input.
Declared readOperand(const std::string& word, std::vector<std::string>& axes) {
  const size_t open = word.find('[');
  const size_t close = word.find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) {
    throw std::invalid_argument("operand '" + word + "' has no [axes]");
  }
  Declared declared;
  declared.rule.name = word.substr(0, open);
  std::istringstream letters(word.substr(open + 1, close - open - 1));
  for (std::string axis; std::getline(letters, axis, ',');) {
    declared.rule.axes.push_back(axisIndex(axes, axis));
  }
  for (size_t i = close + 1; i < word.size(); i++) {
    if (word[i] == '\'' || word[i] == '+') {
      declared.differentiable = true;
      declared.wideGradient = word[i] == '+';
    } else if (word[i] == '?') {
      declared.rule.mayBeAbsent = true;
    } else if (word[i] == '=') {
      declared.inPlaceOf = word.substr(i + 1);
      break;
    } else if (word[i] == '~') {
      declared.rule.isWeight = true;
    } else if (word[i] == '#' || word[i] == '!') {
      declared.rule.isStored = false;
    } else {
      throw std::invalid_argument("operand '" + word + "' has an unknown mark");
    }
  }
  return declared;
}

OperandRule gradientOf(const Declared& declared, bool written) {
  OperandRule rule = declared.rule;
  rule.name = "gradient of " + rule.name;
  rule.mayBeAbsent = true;
  if (declared.wideGradient) rule.isStored = false;
  rule.written = written;
  return rule;
}

}  // namespace

Signature readSignature(const std::string& text) {
  Signature signature;
  std::vector<Declared> inputs;
  std::vector<Declared> outputs;
  enum { INPUTS, OUTPUTS, SCALARS } part = INPUTS;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (word == "->") part = OUTPUTS;
    else if (word == ";") part = SCALARS;
    else if (part == SCALARS) signature.scalars.push_back(word);
    else (part == INPUTS ? inputs : outputs).push_back(readOperand(word, signature.axes));
  }
  if (part == INPUTS) throw std::invalid_argument("signature '" + text + "' has no outputs");

  for (const Declared& input : inputs) signature.forward.push_back(input.rule);
  for (const Declared& output : outputs) {
    OperandRule rule = output.rule;
    rule.written = true;
    for (size_t i = 0; i < inputs.size(); i++) {
      if (inputs[i].rule.name == output.inPlaceOf) rule.inPlaceOf = static_cast<int32_t>(i);
    }
    if (!output.inPlaceOf.empty() && rule.inPlaceOf < 0) {
      throw std::invalid_argument("signature '" + text + "' names no input " + output.inPlaceOf);
    }
    signature.forward.push_back(rule);
  }
  for (const Declared& output : outputs) {
    if (output.differentiable) signature.backward.push_back(gradientOf(output, false));
  }
  for (const Declared& input : inputs) signature.backward.push_back(input.rule);
  for (const Declared& output : outputs) signature.backward.push_back(output.rule);
  for (const Declared& input : inputs) {
    if (input.differentiable) signature.backward.push_back(gradientOf(input, true));
  }
  return signature;
}

}  // namespace saccade
