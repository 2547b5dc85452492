#include <gtest/gtest.h>

#include "sextant/graph/graph.h"
#include "sextant/graph/graph_def.h"

namespace sextant {
namespace {

TEST(SummaryTest, CountsOpsAndListsWhatMatters) {
  Graph graph;
  ImportGraphDefText(R"(
    node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } }
           attr { key: 'shape' value { shape { dim { size: -1 } dim { size: 3 } } } } }
    node { name: 'c' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } }
           attr { key: 'value' value { tensor { dtype: DT_FLOAT
                                                tensor_shape { dim { size: 5000 } } } } } }
    node { name: 'n' op: 'NobodyKnows' }
    library { function { signature { name: 'f' input_arg { name: 'a' type: DT_FLOAT } } } })",
                     graph);
  EXPECT_EQ(graph.Summary(),
            "3 nodes, 3 kinds of op, 1 constants of 20 kB in all\n"
            "ops (3):\n  1 Const\n  1 NobodyKnows\n  1 Placeholder\n"
            "placeholders (1):\n  x: float[?,3]\n"
            "functions (1):\n  f: 1 inputs, 0 outputs\n"
            "ops that are not registered (1):\n  n (NobodyKnows)\n"
            "largest constants (1):\n  c: float[5000], 20 kB\n");
}

}  // namespace
}  // namespace sextant
