// The directory of a run: checkpoints/<YYYY-MM-DD-HH_MM_SS>.
#pragma once

#include "boilerplate/flags/core.h"

namespace boilerplate {

// The model_dir of the flags; without one the newest directory of a run with these parameters that
// has not come to its end, else a new one. Writes the parameters down there. Throws
// FAILED_PRECONDITION when the model_dir holds a training of another model or data set.
std::string OpenRunDirectory(const AllFlags& flags, const RunParameters& parameters);
// A run with these parameters begins in a directory of its own then.
void MarkFinished(const std::string& model_dir);

// The step of the last evaluation that came to its end, 0 before the first: by it a run that was
// killed in an evaluation makes that again.
int64_t LastEvaluation(const std::string& model_dir);
void NoteEvaluation(const std::string& model_dir, int64_t step);

// The model_dir of the flags, else the newest. Throws NOT_FOUND when there is none.
std::string FindRunDirectory(const AllFlags& flags);

}  // namespace boilerplate
