// The types that signatures call numbers.
#pragma once

namespace sextant {

inline constexpr const char* kNumberTypes =
    "float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,"
    "quint16,uint16,complex128,half,uint32,uint64";

}  // namespace sextant
