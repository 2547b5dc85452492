// Made-up sets of the form of real ones, for machines without the data. A model can learn them, but
// not by heart: classes differ by a pattern, examples by place, size and noise. The same arguments
// give the same bytes; other splits of a seed share the classes, not the examples.
#pragma once

#include <cstdint>
#include <string>

#include "sextant/datasets/labelled_images.h"

#pragma GCC visibility push(default)

namespace sextant::datasets {

// Coloured waves whose direction, width and colour are those of the class.
LabelledImages SyntheticCifar10(int64_t count, int64_t seed, int split);

// Digits as on a pocket calculator's display, of varying place, size, slant and brightness.
LabelledImages SyntheticMnist(int64_t count, int64_t seed, int split);

// Rows of adult.data.csv; the label follows from age, education, marriage, hours and capital gain,
// with chance. About a quarter are >50K.
std::string SyntheticCensus(int64_t count, int64_t seed, int split);

}  // namespace sextant::datasets

#pragma GCC visibility pop
