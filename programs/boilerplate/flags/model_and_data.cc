#include "boilerplate/flags/model_and_data.h"

#include "boilerplate/datasets/datasets.h"
#include "boilerplate/models/models.h"

namespace boilerplate {

void DefineModelAndDataFlags(sextant::Flags& flags, ModelAndDataFlags* values) {
  flags
      .Add("model", &values->model, "to train",
           {.aliases = {"m"}, .required = true, .choices = ModelNames()})
      .Add("dataset", &values->dataset, "to train it on",
           {.aliases = {"ds"}, .required = true, .choices = DatasetNames()});
}

}  // namespace boilerplate
