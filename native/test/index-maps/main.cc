// Runs all checks and prints a line for each: `ok <sentence>`, or `not ok <sentence>: <what is wrong>`.
#include "checks.h"

#include <cstdarg>
#include <cstdio>
#include <vector>

namespace maps {
namespace {

struct Entry {
  const char* name;
  void (*run)();
};
// Filled before main, in whatever order the files come.
std::vector<Entry>& entries() {
  static std::vector<Entry> all;
  return all;
}

constexpr int SHOWN = 3;
int faults = 0;
std::string words;

}  // namespace

Check::Check(const char* name, void (*run)()) { entries().push_back({name, run}); }

void expect(bool isRight, const char* format, ...) {
  if (isRight || ++faults > SHOWN) return;
  char line[300];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  words += std::string(words.empty() ? "" : "; ") + line;
}

}  // namespace maps

int main() {
  for (const maps::Entry& entry : maps::entries()) {
    maps::faults = 0;
    maps::words.clear();
    entry.run();
    if (maps::faults == 0) {
      std::printf("ok %s\n", entry.name);
    } else {
      std::printf("not ok %s: %d wrong: %s\n", entry.name, maps::faults, maps::words.c_str());
    }
    std::fflush(stdout);
  }
  std::printf("done\n");
  return 0;
}
