// Records of random images.
#pragma once

#include <string>
#include <vector>

namespace sextant::bench {

// Examples of images of random bytes with labels, as CIFAR-10 has them, serialized.
std::vector<std::string> RandomCifarRecords(int count);

}  // namespace sextant::bench
