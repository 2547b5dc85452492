#include "sextant/dist/incarnation.h"

#include <random>

namespace sextant::dist {

uint64_t NewIncarnation() {
  std::random_device device;
  const uint64_t value = uint64_t{device()} << 32 | device();
  return value == 0 ? 1 : value;
}

}  // namespace sextant::dist
