// Which model is trained on which data set.
#pragma once

#include <string>

#include "sextant/sextant.h"

namespace boilerplate {

struct ModelAndDataFlags {
  std::string model, dataset;
};
void DefineModelAndDataFlags(sextant::Flags& flags, ModelAndDataFlags* values);

}  // namespace boilerplate
