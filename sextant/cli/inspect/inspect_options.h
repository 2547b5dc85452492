// The options of `sextant inspect`.
#pragma once

#include <cstdint>
#include <string>

namespace sextant::cli {

struct InspectOptions {
  std::string path;
  bool json = false;
  int64_t limit = -1;  // of records or events in JSON; -1: all
  std::string tensor;  // print this one of a checkpoint
  std::string images;  // a contact sheet of the records' images goes here
  std::string graph;   // the page with the graph goes here
};

}  // namespace sextant::cli
