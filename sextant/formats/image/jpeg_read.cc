#include <cstring>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/formats/image/jpeg.h"
#include "sextant/formats/image/jpeg_error.h"

namespace sextant {
namespace {

struct JpegReader {
  JpegError error;
  jpeg_decompress_struct info = {};
  jpeg_source_mgr source = {};
  bool recover = false;
  bool ended = false;
  size_t bytes;

  explicit JpegReader(std::string_view data) : bytes(data.size()) {
    source.next_input_byte = reinterpret_cast<const JOCTET*>(data.data());
    source.bytes_in_buffer = data.size();
    info.err = &error.manager;
  }
  ~JpegReader() { jpeg_destroy_decompress(&info); }
  JpegReader(const JpegReader&) = delete;

  [[noreturn]] void Fail() const {
    throw InvalidArgument("Invalid JPEG data, size {}: {}", bytes, error.message);
  }
};

// The data is all there at once; a request for more is at its end.
boolean EndOfData(j_decompress_ptr info) {
  static constexpr JOCTET kEnd[2] = {0xFF, JPEG_EOI};
  auto* r = static_cast<JpegReader*>(info->client_data);
  if (!r->recover || r->ended) {
    std::strcpy(r->error.message, "it ends too early");
    longjmp(r->error.jump, 1);
  }
  r->ended = true;
  r->source.next_input_byte = kEnd;
  r->source.bytes_in_buffer = sizeof(kEnd);
  return TRUE;
}

void SkipBytes(j_decompress_ptr info, long count) {
  auto* r = static_cast<JpegReader*>(info->client_data);
  while (count > static_cast<long>(r->source.bytes_in_buffer)) {
    count -= static_cast<long>(r->source.bytes_in_buffer);
    EndOfData(info);
  }
  r->source.next_input_byte += count;
  r->source.bytes_in_buffer -= count;
}

bool ReadHeader(JpegReader& r) {
  if (setjmp(r.error.jump)) return false;
  jpeg_create_decompress(&r.info);
  r.info.client_data = &r;
  r.info.src = &r.source;
  r.source.init_source = [](j_decompress_ptr) {};
  r.source.fill_input_buffer = EndOfData;
  r.source.skip_input_data = SkipBytes;
  r.source.resync_to_restart = jpeg_resync_to_restart;
  r.source.term_source = [](j_decompress_ptr) {};
  jpeg_read_header(&r.info, TRUE);
  return true;
}

bool IsCmyk(const JpegReader& r) {
  return r.info.jpeg_color_space == JCS_CMYK || r.info.jpeg_color_space == JCS_YCCK;
}

// Sets what decides the size of the result.
bool Prepare(JpegReader& r, const JpegReadOptions& options) {
  if (setjmp(r.error.jump)) return false;
  const int channels =
      options.channels != 0 ? options.channels : (r.info.num_components < 3 ? 1 : 3);
  if (channels == 1) {
    r.info.out_color_space = JCS_GRAYSCALE;
  } else {
    r.info.out_color_space = IsCmyk(r) ? JCS_CMYK : JCS_RGB;  // libjpeg makes no RGB of CMYK
  }
  r.info.do_fancy_upsampling = options.fancy_upscaling ? TRUE : FALSE;
  r.info.scale_num = 1;
  r.info.scale_denom = static_cast<unsigned>(options.ratio);
  r.info.dct_method = options.accurate ? JDCT_ISLOW : JDCT_IFAST;
  jpeg_calc_output_dimensions(&r.info);
  return true;
}

// Files of Adobe's programs hold the inverted inks.
void CmykToRgb(const JSAMPLE* cmyk, bool inverted, int64_t count, uint8_t* rgb) {
  for (int64_t i = 0; i < count; ++i, cmyk += 4, rgb += 3) {
    const int k = inverted ? cmyk[3] : 255 - cmyk[3];
    for (int c = 0; c < 3; ++c) {
      rgb[c] = static_cast<uint8_t>(k * (inverted ? cmyk[c] : 255 - cmyk[c]) / 255);
    }
  }
}

// Starts decompression at the window; "left" is where the window begins in the lines that follow,
// which libjpeg cuts at the edges of blocks.
bool Start(JpegReader& r, const CropWindow& window, int64_t* left, int64_t* line_width) {
  if (setjmp(r.error.jump)) return false;
  jpeg_start_decompress(&r.info);
  *left = 0;
  if (window.width != r.info.output_width) {
    auto x = static_cast<JDIMENSION>(window.x);
    auto width = static_cast<JDIMENSION>(window.width);
    jpeg_crop_scanline(&r.info, &x, &width);
    *left = window.x - x;
  }
  *line_width = r.info.output_width;
  if (window.y > 0) jpeg_skip_scanlines(&r.info, static_cast<JDIMENSION>(window.y));
  return true;
}

bool ReadLine(JpegReader& r, JSAMPLE* line) {
  if (setjmp(r.error.jump)) return false;
  JSAMPROW rows[1] = {line};
  return jpeg_read_scanlines(&r.info, rows, 1) == 1;
}

bool Finish(JpegReader& r, bool whole) {
  if (setjmp(r.error.jump)) return false;
  if (whole) jpeg_finish_decompress(&r.info);
  return true;
}

void CheckWindow(const CropWindow& w, const ImageSize& size) {
  if (w.x < 0 || w.y < 0 || w.width <= 0 || w.height <= 0 || w.width > size.width - w.x ||
      w.height > size.height - w.y) {
    throw InvalidArgument(
        "Invalid crop window: {} by {} pixels from x = {}, y = {} of an image of {} by {}", w.width,
        w.height, w.x, w.y, size.width, size.height);
  }
}

}  // namespace

void ReadJpeg(std::string_view bytes, const JpegReadOptions& options, PixelAllocator allocate) {
  JpegReader r(bytes);
  r.recover = options.try_recover_truncated;
  if (!ReadHeader(r) || !Prepare(r, options)) r.Fail();
  ImageSize size{r.info.output_height, r.info.output_width,
                 r.info.out_color_space == JCS_GRAYSCALE ? 1 : 3};
  CheckImageSize("JPEG", size);
  // Of an image in several scans libjpeg keeps all coefficients.
  if (jpeg_has_multiple_scans(&r.info)) {
    CheckImageSize("JPEG", {r.info.image_height, r.info.image_width, r.info.num_components});
  }
  const CropWindow window = options.crop.value_or(CropWindow{0, 0, size.height, size.width});
  CheckWindow(window, size);
  size.height = window.height;
  size.width = window.width;

  int64_t left, line_width;
  if (!Start(r, window, &left, &line_width)) r.Fail();
  const int components = r.info.out_color_components;
  std::vector<JSAMPLE> line(static_cast<size_t>(line_width) * static_cast<size_t>(components));
  auto* pixels = static_cast<uint8_t*>(allocate(size));
  const bool cmyk = r.info.out_color_space == JCS_CMYK, inverted = r.info.saw_Adobe_marker != 0;
  for (int64_t y = 0; y < size.height; ++y, pixels += size.row_elements()) {
    if (!ReadLine(r, line.data())) r.Fail();
    if (cmyk) {
      CmykToRgb(line.data() + left * 4, inverted, size.width, pixels);
    } else {
      std::memcpy(pixels, line.data() + left * components, size.row_elements());
    }
  }
  if (!Finish(r, r.info.output_scanline == r.info.output_height)) r.Fail();
}

ImageSize ReadJpegSize(std::string_view bytes) {
  JpegReader r(bytes);
  if (!ReadHeader(r)) r.Fail();
  return {r.info.image_height, r.info.image_width, r.info.num_components};
}

}  // namespace sextant
