// For tests: small archives of the authors' form.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace sextant::datasets {

// A tar archive of the named files.
std::string MakeTar(const std::vector<std::pair<std::string, std::string>>& files);
std::string Gzip(const std::string& bytes);

// A batch as the authors' pickles have it (protocol 2, by Python 2): images of 3072 bytes, where
// byte k of image i is (i + 7 k) % 256.
std::string MakeCifarPickle(const std::vector<int>& labels);
std::string MakeCifarBinary(const std::vector<int>& labels);

// A new folder, and what is in the folder with the tests' big data, "" when that is absent.
std::string NewFolder();

}  // namespace sextant::datasets
