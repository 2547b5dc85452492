#include "sextant/formats/image/png.h"

#include <png.h>

#include <csetjmp>
#include <cstring>
#include <exception>
#include <utility>

#include "sextant/base/error.h"

namespace sextant {
namespace {

// libpng reports errors by longjmp. Each function below that calls it therefore starts with its
// own setjmp and holds nothing that needs a destructor.
[[noreturn]] void OnError(png_structp png, png_const_charp message) {
  auto* text = static_cast<char*>(png_get_error_ptr(png));
  std::strncpy(text, message, 127);
  png_longjmp(png, 1);
}
void OnWarning(png_structp, png_const_charp) {}

// Bytes still to be read.
struct Source {
  const char* data;
  size_t size;
};

void ReadBytes(png_structp png, png_bytep to, size_t count) {
  auto* source = static_cast<Source*>(png_get_io_ptr(png));
  if (count > source->size) png_error(png, "it ends too early");
  std::memcpy(to, source->data, count);
  source->data += count;
  source->size -= count;
}

struct PngReader {
  char error[128] = {};
  png_structp png = nullptr;
  png_infop info = nullptr;
  Source source;
  ImageSize size;
  size_t file_row_bytes = 0;
  bool widen = false;  // 8-bit elements are still to be made 16-bit ones
  int passes = 1;

  explicit PngReader(std::string_view bytes) : source{bytes.data(), bytes.size()} {
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, error, OnError, OnWarning);
    if (png != nullptr) info = png_create_info_struct(png);
  }
  ~PngReader() { png_destroy_read_struct(&png, &info, nullptr); }
  PngReader(const PngReader&) = delete;
};

// Which of libpng's conversions lead to what is asked for.
void ChooseConversions(PngReader& r, const PngReadOptions& options) {
  const int depth = png_get_bit_depth(r.png, r.info);
  const int color = png_get_color_type(r.png, r.info);
  const bool palette = color == PNG_COLOR_TYPE_PALETTE;
  const bool transparent = png_get_valid(r.png, r.info, PNG_INFO_tRNS) != 0;
  const bool alpha = (color & PNG_COLOR_MASK_ALPHA) != 0;
  const bool gray = (color & PNG_COLOR_MASK_COLOR) == 0;
  if (options.channels != 0) {
    r.size.channels = options.channels;
  } else if (palette) {
    r.size.channels = transparent ? 4 : 3;
  } else {
    r.size.channels = png_get_channels(r.png, r.info);
  }
  if (r.size.channels % 2 == 0) {
    if (!alpha && transparent) png_set_tRNS_to_alpha(r.png);
    if (!alpha && !transparent) png_set_add_alpha(r.png, (1U << depth) - 1, PNG_FILLER_AFTER);
  } else if (alpha || transparent) {
    png_set_strip_alpha(r.png);
  }
  if (depth > 8 && !options.deep) png_set_strip_16(r.png);
  r.widen = options.deep && depth <= 8;
  png_set_packing(r.png);
  r.passes = png_set_interlace_handling(r.png);
  if (options.deep) png_set_swap(r.png);
  if (palette) png_set_palette_to_rgb(r.png);
  if (gray && depth < 8) png_set_expand_gray_1_2_4_to_8(r.png);
  if (r.size.channels < 3 && !gray) png_set_rgb_to_gray(r.png, PNG_ERROR_ACTION_NONE, 0.299, 0.587);
  if (r.size.channels >= 3 && gray) png_set_gray_to_rgb(r.png);
}

bool ReadHeader(PngReader& r, const PngReadOptions& options) {
  if (setjmp(png_jmpbuf(r.png))) return false;
  png_set_read_fn(r.png, &r.source, ReadBytes);
  png_read_info(r.png, r.info);
  r.size.width = png_get_image_width(r.png, r.info);
  r.size.height = png_get_image_height(r.png, r.info);
  r.file_row_bytes = png_get_rowbytes(r.png, r.info);
  ChooseConversions(r, options);
  png_read_update_info(r.png, r.info);
  return true;
}

bool ReadRows(PngReader& r, uint8_t* pixels, size_t stride) {
  if (setjmp(png_jmpbuf(r.png))) return false;
  for (int pass = 0; pass < r.passes; ++pass) {
    uint8_t* row = pixels;
    for (int64_t y = 0; y < r.size.height; ++y, row += stride) {
      png_read_row(r.png, row, nullptr);
    }
  }
  png_read_end(r.png, r.info);
  return true;
}

// v -> v * 257, from the end, as both overlap.
void Widen(uint8_t* pixels, size_t count) {
  for (size_t i = count; i-- > 0;) {
    const uint16_t value = pixels[i];
    const auto wide = static_cast<uint16_t>(value << 8 | value);
    std::memcpy(pixels + 2 * i, &wide, sizeof(wide));
  }
}

struct PngWriter {
  char error[128] = {};
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::string bytes;

  PngWriter() {
    png = png_create_write_struct(PNG_LIBPNG_VER_STRING, error, OnError, OnWarning);
    if (png != nullptr) info = png_create_info_struct(png);
  }
  ~PngWriter() { png_destroy_write_struct(&png, &info); }
  PngWriter(const PngWriter&) = delete;
};

void WriteBytes(png_structp png, png_bytep data, size_t count) {
  bool written = true;
  try {
    static_cast<std::string*>(png_get_io_ptr(png))->append(reinterpret_cast<char*>(data), count);
  } catch (const std::exception&) {  // may not pass through libpng
    written = false;
  }
  if (!written) png_error(png, "out of memory");
}
void FlushBytes(png_structp) {}

bool WriteAll(PngWriter& w, const uint8_t* pixels, const ImageSize& size,
              const PngWriteOptions& options) {
  static constexpr int kColors[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
                                    PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
  if (setjmp(png_jmpbuf(w.png))) return false;
  png_set_write_fn(w.png, &w.bytes, WriteBytes, FlushBytes);
  png_set_compression_level(w.png, options.compression);
  png_set_IHDR(w.png, w.info, static_cast<png_uint_32>(size.width),
               static_cast<png_uint_32>(size.height), options.deep ? 16 : 8,
               kColors[size.channels - 1], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_write_info(w.png, w.info);
  if (options.deep) png_set_swap(w.png);
  const size_t stride = size.row_elements() * (options.deep ? 2 : 1);
  for (int64_t y = 0; y < size.height; ++y) png_write_row(w.png, pixels + y * stride);
  png_write_end(w.png, nullptr);
  return true;
}

}  // namespace

void ReadPng(std::string_view bytes, const PngReadOptions& options, PixelAllocator allocate) {
  PngReader r(bytes);
  if (r.info == nullptr) throw ResourceExhausted("no memory to decode a PNG image");
  if (!ReadHeader(r, options)) {
    throw InvalidArgument("Invalid PNG. Failed to initialize decoder: {}", r.error);
  }
  CheckImageSize("PNG", r.size);
  // Deflate makes at most 1,032 bytes of one.
  if (bytes.size() < r.file_row_bytes * static_cast<size_t>(r.size.height) / 1032) {
    throw InvalidArgument("Invalid PNG data, size {}: too little for {} by {} pixels", bytes.size(),
                          r.size.width, r.size.height);
  }
  const size_t elements = r.size.row_elements(), element = options.deep && !r.widen ? 2 : 1;
  if (png_get_rowbytes(r.png, r.info) != elements * element) {
    throw InvalidArgument("Invalid PNG data, size {}: rows of {} bytes", bytes.size(),
                          png_get_rowbytes(r.png, r.info));
  }
  auto* pixels = static_cast<uint8_t*>(allocate(r.size));
  if (!ReadRows(r, pixels, elements * element)) {
    throw InvalidArgument("Invalid PNG data, size {}: {}", bytes.size(), r.error);
  }
  if (r.widen) Widen(pixels, elements * static_cast<size_t>(r.size.height));
}

std::string WritePng(const void* pixels, const ImageSize& size, const PngWriteOptions& options) {
  if (size.channels < 1 || size.channels > 4) {
    throw InvalidArgument("image must have 1, 2, 3, or 4 channels, got {}", size.channels);
  }
  CheckImageSize("PNG", size);
  PngWriter w;
  if (w.info == nullptr) throw ResourceExhausted("no memory to encode a PNG image");
  if (!WriteAll(w, static_cast<const uint8_t*>(pixels), size, options)) {
    throw InvalidArgument("PNG encoding failed: {}", w.error);
  }
  return std::move(w.bytes);
}

}  // namespace sextant
