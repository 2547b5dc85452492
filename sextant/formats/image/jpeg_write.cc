#include <cstdlib>
#include <memory>

#include "sextant/base/error.h"
#include "sextant/formats/image/jpeg.h"
#include "sextant/formats/image/jpeg_error.h"

namespace sextant {
namespace {

struct JpegWriter {
  JpegError error;
  jpeg_compress_struct info = {};
  unsigned char* bytes = nullptr;
  unsigned long size = 0;

  JpegWriter() { info.err = &error.manager; }
  ~JpegWriter() {
    jpeg_destroy_compress(&info);
    std::free(bytes);
  }
  JpegWriter(const JpegWriter&) = delete;
};

bool WriteAll(JpegWriter& w, const uint8_t* pixels, const ImageSize& size,
              const JpegWriteOptions& options, const std::string& metadata) {
  if (setjmp(w.error.jump)) return false;
  jpeg_create_compress(&w.info);
  jpeg_mem_dest(&w.info, &w.bytes, &w.size);
  w.info.image_width = static_cast<JDIMENSION>(size.width);
  w.info.image_height = static_cast<JDIMENSION>(size.height);
  w.info.input_components = size.channels;
  w.info.in_color_space = size.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&w.info);
  if (options.optimize_size) w.info.optimize_coding = TRUE;
  w.info.density_unit = options.density_in_cm ? 2 : 1;
  w.info.X_density = static_cast<UINT16>(options.x_density);
  w.info.Y_density = static_cast<UINT16>(options.y_density);
  jpeg_set_quality(&w.info, options.quality, TRUE);
  if (options.progressive) jpeg_simple_progression(&w.info);
  if (!options.chroma_downsampling) {
    w.info.comp_info[0].h_samp_factor = 1;
    w.info.comp_info[0].v_samp_factor = 1;
  }
  jpeg_start_compress(&w.info, TRUE);
  if (!metadata.empty()) {
    jpeg_write_marker(&w.info, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(metadata.data()),
                      static_cast<unsigned>(metadata.size()));
  }
  while (w.info.next_scanline < w.info.image_height) {
    auto* row = const_cast<JSAMPLE*>(pixels + w.info.next_scanline * size.row_elements());
    jpeg_write_scanlines(&w.info, &row, 1);
  }
  jpeg_finish_compress(&w.info);
  return true;
}

}  // namespace

std::string WriteJpeg(const uint8_t* pixels, const ImageSize& size,
                      const JpegWriteOptions& options) {
  if (size.channels != 1 && size.channels != 3) {
    throw InvalidArgument("image must have 1 or 3 channels, got {}", size.channels);
  }
  CheckImageSize("JPEG", size);
  std::string metadata;
  if (!options.xmp_metadata.empty()) {
    metadata = std::string("http://ns.adobe.com/xap/1.0/") + '\0' + options.xmp_metadata;
    if (metadata.size() > 65533) {
      throw InvalidArgument("XMP metadata of {} bytes does not fit in a JPEG marker",
                            options.xmp_metadata.size());
    }
  }
  JpegWriter w;
  if (!WriteAll(w, pixels, size, options, metadata)) {
    throw InvalidArgument("JPEG encoding failed: {}", w.error.message);
  }
  return std::string(reinterpret_cast<const char*>(w.bytes), w.size);
}

}  // namespace sextant
