// The functions of a TensorFlow 2 SavedModel's root object, as saved_model_cli prints them.
#pragma once

#include <string>

namespace sextant::proto {
class MetaGraphDef;
}

namespace sextant::cli {

// From the line "Concrete Functions:" on. REQUIRES: an object graph.
std::string ConcreteFunctionsText(const proto::MetaGraphDef& meta_graph);

}  // namespace sextant::cli
