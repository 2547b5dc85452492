// How the bytes of one tensor lie in a data file of a checkpoint, by element type, with the CRC
// that its entry in the index has. Plain elements are stored as in memory; strings as their
// lengths, a CRC of these and then their bytes; variants as messages with a CRC each.
#pragma once

#include <cstdint>
#include <string>

#include "sextant/base/file_system.h"
#include "sextant/tensor/tensor.h"

namespace sextant {

struct WrittenTensor {
  int64_t size = 0;
  uint32_t crc = 0;  // not masked
};
// Appends the elements to a file, without holding a copy of them. Throws UNIMPLEMENTED for
// resources and for variants without a proto form.
WrittenTensor AppendElements(FileWriter& file, const Tensor& tensor);

// Where the elements of a tensor are to be read from.
struct StoredTensor {
  FileReader* file = nullptr;
  uint64_t file_size = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
  uint32_t crc = 0;  // not masked
  bool big_endian = false;
  std::string name;  // for messages
};
// Throws DATA_LOSS unless `stored` lies inside the file and has room for the elements of such a
// tensor: called before the tensor is allocated, it bounds memory by the size of the file.
void CheckStoredSize(const StoredTensor& stored, DType dtype, const Shape& shape);
// Reads the elements of *tensor. Throws DATA_LOSS with path and offset when they do not match their
// CRC. REQUIRES: CheckStoredSize has passed.
void ReadElements(const StoredTensor& stored, Tensor* tensor);

}  // namespace sextant
