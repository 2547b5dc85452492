// Made-up values for the inputs of a signature, to run it before the first request comes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/graph/graph.h"
#include "sextant/runtime/saved_model.h"

namespace sextant {

// A text for an input of texts: "", or what the graph parses, as below.
SEXTANT_API std::string SampleText(const Graph& graph, Output input);

// A tensor for each input, in their order, with "rows" rows: zeros and empty texts. Texts that the
// graph parses are Examples that have all its dense features, or lines of comma-separated values.
// None when a size other than the number of rows is not known.
SEXTANT_API std::optional<std::vector<Tensor>> SampleInputs(const Signature& signature,
                                                            const Graph& graph, int64_t rows);

}  // namespace sextant
