#include "sextant/base/resident_memory.h"

#include <unistd.h>

#include <fstream>

namespace sextant {

int64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t size = 0, resident = 0;
  statm >> size >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

}  // namespace sextant
