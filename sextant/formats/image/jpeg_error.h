// How libjpeg's errors leave it: by longjmp, with the message kept. Each function that calls the
// library starts with its own setjmp and holds nothing that needs a destructor.
#pragma once

#include <jpeglib.h>  // needs cstdio first

#include <csetjmp>
#include <cstdio>

namespace sextant {

struct JpegError {
  jpeg_error_mgr manager;  // first: libjpeg hands back a pointer to it
  jmp_buf jump;
  char message[JMSG_LENGTH_MAX] = {};

  JpegError() {
    jpeg_std_error(&manager);
    manager.error_exit = [](j_common_ptr info) {
      auto* self = reinterpret_cast<JpegError*>(info->err);
      info->err->format_message(info, self->message);
      longjmp(self->jump, 1);
    };
    manager.output_message = [](j_common_ptr) {};
  }
};

}  // namespace sextant
