// Inputs of `sextant saved-model run`: from files, expressions and Examples.
#pragma once

#include <map>
#include <string>

#include "sextant/tensor/tensor.h"

namespace sextant::cli {

struct InputTexts {
  std::string files;        // key=file.npy;key=file.npz[name]
  std::string expressions;  // key=value;... with values as in python_literal.h
  std::string examples;     // key=[{'feature': [1, 2]}, ...];...
};

// The tensors by key, in the types they were written in; where a key is given several times,
// Examples go before expressions and these before files, with a warning. Throws INVALID_ARGUMENT,
// naming the option and what is wrong.
std::map<std::string, Tensor> ReadInputs(const InputTexts& texts);

}  // namespace sextant::cli
