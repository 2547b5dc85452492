// Knows nothing of clusters but the address of a task.
#include <sextant/sextant.h>

#include <cstdio>
namespace sx = sextant;

int main(int, char** argv) {
  sx::Graph graph;
  sx::GraphScope use(graph);
  const sx::Output text = sx::Const(sx::Tensor("Hello, task!"));
  sx::Session session(graph, {.target = argv[1]});
  std::puts(session.Run(text).scalar<std::string>().c_str());
}
