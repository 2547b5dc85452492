// GIF files, by giflib.
#pragma once

#include <string_view>

#include "sextant/base/function_ref.h"
#include "sextant/formats/image/pixels.h"

namespace sextant {

struct GifReadOptions {
  bool first_frame_only = false;
};
// Every frame as a whole RGB picture: what a frame leaves open or transparent shows the frame
// before, black before the first. The picture is as large as the largest frame. Frames behind a
// break in the data are left out. "allocate" gets their number and gives room for all of them.
void ReadGif(std::string_view bytes, const GifReadOptions& options,
             FunctionRef<void*(int64_t num_frames, const ImageSize&)> allocate);

}  // namespace sextant
