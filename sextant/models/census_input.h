// Rows of the census files as the census models take them.
//
//   Dataset lines = TextLines(files).Shuffle(400).Repeat();
//   Input input = CensusInput(ParseCsv(lines, CensusRowOptions()).Batch(40));
#pragma once

#include "sextant/data/sources.h"
#include "sextant/estimator/input_fn.h"

#pragma GCC visibility push(default)

namespace sextant::models {

// The columns that features are made of, and the label.
data::CsvFileOptions CensusRowOptions();

// Batches of such rows, prefetched, with the class of every label (int32) in the place of its word.
// INVALID_ARGUMENT, at the batch that has it, for a word that is no class.
Input CensusInput(const data::Dataset& batches);

}  // namespace sextant::models

#pragma GCC visibility pop
