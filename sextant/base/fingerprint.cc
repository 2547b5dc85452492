#include "sextant/base/fingerprint.h"

#include <farmhash.h>

namespace sextant {

uint64_t Fingerprint64(std::string_view bytes) {
  return util::Fingerprint64(bytes.data(), bytes.size());
}

}  // namespace sextant
