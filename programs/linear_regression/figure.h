// A figure of points and, if there is one, of a line through them, as an SVG file.
#pragma once

#include <string>

#include "sextant/sextant.h"

// x, y and line_y: as many floats each. The file appears when it is whole.
void DrawFigure(const std::string& path, const sextant::Tensor& x, const sextant::Tensor& y,
                const sextant::Tensor& line_y = {});
