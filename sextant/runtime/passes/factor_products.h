// Passes that take matrix products apart so that fewer multiplications are left. They change the
// order in which numbers are added, so results differ by rounding; "fuse_products" switches them.
#pragma once

#include "sextant/graph/graph.h"

namespace sextant {

class Device;

// A variable of which, all in all, many times its rows are gathered is read as a whole, once.
void ReadTables(Graph& graph, const Device& device);
// Rows gathered of a small table and multiplied become rows gathered of the multiplied table:
// [table[ids], h] * w = (table * w1)[ids] + h * w2. In the gradient of w the rows of the other
// factor are added up by id first.
void MultiplyTables(Graph& graph, const Device& device);
// Sums of rows of products become products of sums of rows: the gradient of a table.
void SumRowsFirst(Graph& graph, const Device& device);
// Products with a transposed matrix of which only some columns are read compute no more than those.
void NarrowProducts(Graph& graph, const Device& device);

}  // namespace sextant
