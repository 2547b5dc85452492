// The functions of libarchive, found in the library when the first archive is read
// (base/shared_library.h): Archives().read_new() is archive_read_new().
#pragma once

#include <archive.h>
#include <archive_entry.h>

#include "sextant/base/shared_library.h"

namespace sextant::datasets {

struct ArchiveFunctions {
  SharedLibrary library{"libarchive.so.13", "libarchive13"};
  decltype(&::archive_entry_filetype) entry_filetype =
      library.Find<decltype(::archive_entry_filetype)>("archive_entry_filetype");
  decltype(&::archive_entry_pathname) entry_pathname =
      library.Find<decltype(::archive_entry_pathname)>("archive_entry_pathname");
  decltype(&::archive_entry_size) entry_size =
      library.Find<decltype(::archive_entry_size)>("archive_entry_size");
  decltype(&::archive_error_string) error_string =
      library.Find<decltype(::archive_error_string)>("archive_error_string");
  decltype(&::archive_read_data) read_data =
      library.Find<decltype(::archive_read_data)>("archive_read_data");
  decltype(&::archive_read_data_block) read_data_block =
      library.Find<decltype(::archive_read_data_block)>("archive_read_data_block");
  decltype(&::archive_read_free) read_free =
      library.Find<decltype(::archive_read_free)>("archive_read_free");
  decltype(&::archive_read_new) read_new =
      library.Find<decltype(::archive_read_new)>("archive_read_new");
  decltype(&::archive_read_next_header) read_next_header =
      library.Find<decltype(::archive_read_next_header)>("archive_read_next_header");
  decltype(&::archive_read_open) read_open =
      library.Find<decltype(::archive_read_open)>("archive_read_open");
  decltype(&::archive_read_open_memory) read_open_memory =
      library.Find<decltype(::archive_read_open_memory)>("archive_read_open_memory");
  decltype(&::archive_read_support_filter_gzip) read_support_filter_gzip =
      library.Find<decltype(::archive_read_support_filter_gzip)>(
          "archive_read_support_filter_gzip");
  decltype(&::archive_read_support_format_tar) read_support_format_tar =
      library.Find<decltype(::archive_read_support_format_tar)>("archive_read_support_format_tar");
  decltype(&::archive_read_support_format_zip_seekable) read_support_format_zip_seekable =
      library.Find<decltype(::archive_read_support_format_zip_seekable)>(
          "archive_read_support_format_zip_seekable");
  decltype(&::archive_set_error) set_error =
      library.Find<decltype(::archive_set_error)>("archive_set_error");
};

inline const ArchiveFunctions& Archives() {
  static const ArchiveFunctions functions;
  return functions;
}

}  // namespace sextant::datasets
