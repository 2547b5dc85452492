#include "sextant/formats/image/gif.h"

#include <gif_lib.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "sextant/base/error.h"

namespace sextant {
namespace {

struct Rgb {
  uint8_t r, g, b;
};

struct Frame {
  int left, top, width, height;
  int transparent = NO_TRANSPARENT_COLOR;
  std::vector<Rgb> colors;
  bool has_colors;
  std::vector<GifByteType> indices;
};

int ReadBytes(GifFileType* file, GifByteType* to, int count) {
  auto* rest = static_cast<std::string_view*>(file->UserData);
  const size_t given = std::min(rest->size(), static_cast<size_t>(count));
  std::memcpy(to, rest->data(), given);
  rest->remove_prefix(given);
  return static_cast<int>(given);
}

class File {
 public:
  explicit File(std::string_view bytes) : size_(bytes.size()), rest_(bytes) {
    int error = 0;
    file_ = DGifOpen(&rest_, ReadBytes, &error);
    if (file_ == nullptr) throw Invalid("failed to open it: ", error);
  }
  ~File() { DGifCloseFile(file_, nullptr); }
  File(const File&) = delete;

  // The next frame, or false at the end or at a break in the data.
  bool Next(Frame* frame) {
    int transparent = NO_TRANSPARENT_COLOR;
    GifRecordType type;
    while (DGifGetRecordType(file_, &type) == GIF_OK) {
      if (type == TERMINATE_RECORD_TYPE) return false;
      if (type == EXTENSION_RECORD_TYPE && !ReadExtension(&transparent)) return false;
      if (type == IMAGE_DESC_RECORD_TYPE) {
        frame->transparent = transparent;
        return ReadFrame(frame);
      }
    }
    return false;
  }

  Error Invalid(const char* what, int error) const {
    const char* reason = error == 0 ? nullptr : GifErrorString(error);
    return InvalidArgument("Invalid GIF data (size {}), {}{}", size_, what,
                           reason == nullptr ? "" : reason);
  }
  int error() const { return file_->Error; }

 private:
  bool ReadExtension(int* transparent) {
    int code;
    GifByteType* block;
    if (DGifGetExtension(file_, &code, &block) != GIF_OK) return false;
    while (block != nullptr) {
      GraphicsControlBlock control;
      if (code == GRAPHICS_EXT_FUNC_CODE &&
          DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK) {
        *transparent = control.TransparentColor;
      }
      if (DGifGetExtensionNext(file_, &block) != GIF_OK) return false;
    }
    return true;
  }

  bool ReadFrame(Frame* frame) {
    if (DGifGetImageDesc(file_) != GIF_OK) return false;
    const GifImageDesc& image = file_->Image;
    frame->left = image.Left;
    frame->top = image.Top;
    frame->width = image.Width;
    frame->height = image.Height;
    const ColorMapObject* map = image.ColorMap != nullptr ? image.ColorMap : file_->SColorMap;
    frame->has_colors = map != nullptr;
    frame->colors.clear();
    for (int i = 0; map != nullptr && i < map->ColorCount; ++i) {
      frame->colors.push_back({map->Colors[i].Red, map->Colors[i].Green, map->Colors[i].Blue});
    }
    return ReadIndices(image.Interlace, frame);
  }

  // Line by line, so that memory is taken only for what the data really holds.
  bool ReadIndices(bool interlaced, Frame* frame) {
    const auto width = static_cast<size_t>(frame->width);
    if (frame->width <= 0 || frame->height <= 0) return false;
    frame->indices.clear();
    std::vector<GifByteType> line(width);
    for (int y = 0; y < frame->height; ++y) {
      if (DGifGetLine(file_, line.data(), frame->width) != GIF_OK) return false;
      frame->indices.insert(frame->indices.end(), line.begin(), line.end());
    }
    if (interlaced) Deinterlace(frame);
    return true;
  }

  static void Deinterlace(Frame* frame) {
    static constexpr int kFirst[] = {0, 4, 2, 1}, kStep[] = {8, 8, 4, 2};
    std::vector<GifByteType> ordered(frame->indices.size());
    const GifByteType* line = frame->indices.data();
    for (int pass = 0; pass < 4; ++pass) {
      for (int y = kFirst[pass]; y < frame->height; y += kStep[pass], line += frame->width) {
        std::copy_n(line, frame->width, ordered.data() + static_cast<size_t>(y) * frame->width);
      }
    }
    frame->indices = std::move(ordered);
  }

  const size_t size_;
  std::string_view rest_;
  GifFileType* file_;
};

// Draws the frame over the picture, which is that of the frame before.
void Draw(const Frame& frame, const ImageSize& size, uint8_t* picture) {
  const int64_t bottom = std::min<int64_t>(size.height, int64_t{frame.top} + frame.height);
  const int64_t right = std::min<int64_t>(size.width, int64_t{frame.left} + frame.width);
  for (int64_t y = frame.top; y < bottom; ++y) {
    const GifByteType* index = frame.indices.data() + (y - frame.top) * frame.width;
    uint8_t* pixel = picture + (y * size.width + frame.left) * 3;
    for (int64_t x = frame.left; x < right; ++x, ++index, pixel += 3) {
      if (*index != frame.transparent) std::memcpy(pixel, &frame.colors[*index], 3);
    }
  }
}

// Whether every index that is drawn has a colour.
void CheckColors(const File& file, const Frame& frame, size_t number) {
  if (!frame.has_colors) {
    throw file.Invalid(fmt::format("missing color map for frame {}", number).c_str(), 0);
  }
  for (const GifByteType index : frame.indices) {
    if (index >= frame.colors.size() && index != frame.transparent) {
      throw file.Invalid(fmt::format("found color index {} outside of color map range {}", index,
                                     frame.colors.size())
                             .c_str(),
                         0);
    }
  }
}

}  // namespace

void ReadGif(std::string_view bytes, const GifReadOptions& options,
             FunctionRef<void*(int64_t num_frames, const ImageSize&)> allocate) {
  File file(bytes);
  std::vector<Frame> frames;
  ImageSize size{0, 0, 3};
  for (Frame frame; file.Next(&frame); frames.push_back(std::move(frame))) {
    CheckColors(file, frame, frames.size());
    size.height = std::max<int64_t>(size.height, frame.height);
    size.width = std::max<int64_t>(size.width, frame.width);
    if (options.first_frame_only && !frames.empty()) break;
  }
  if (frames.empty()) throw file.Invalid("it has no frame: ", file.error());
  CheckImageSize("GIF", size);
  CheckImageSize("GIF", {size.height * static_cast<int64_t>(frames.size()), size.width, 3});
  const size_t picture = size.row_elements() * static_cast<size_t>(size.height);
  auto* pixels = static_cast<uint8_t*>(allocate(static_cast<int64_t>(frames.size()), size));
  for (size_t i = 0; i < frames.size(); ++i, pixels += picture) {
    if (i == 0) {
      std::memset(pixels, 0, picture);
    } else {
      std::memcpy(pixels, pixels - picture, picture);
    }
    Draw(frames[i], size, pixels);
  }
}

}  // namespace sextant
