#include "sextant/runtime/passes/factor_products.h"
#include "sextant/runtime/passes/pass.h"

namespace sextant {

const std::vector<Pass>& OptimizationPasses() {
  static const std::vector<Pass>* passes = new std::vector<Pass>{
      {"merge_common", &OptimizerOptions::merge_common, MergeCommonSubexpressions},
      {"fuse_updates", &OptimizerOptions::fuse_updates, FuseUpdates},
      {"fold_padding", &OptimizerOptions::block_images, FoldPadding},
      {"block_images", &OptimizerOptions::block_images, BlockImages},
      {"winograd", &OptimizerOptions::winograd, AllowWinograd},
      {"fuse_images", &OptimizerOptions::fuse_images, FuseImages},
      {"read_tables", &OptimizerOptions::fuse_products, ReadTables},
      {"multiply_tables", &OptimizerOptions::fuse_products, MultiplyTables},
      {"sum_rows_first", &OptimizerOptions::fuse_products, SumRowsFirst},
      {"narrow_products", &OptimizerOptions::fuse_products, NarrowProducts},
      {"fuse_products", &OptimizerOptions::fuse_products, FuseProducts},
      {"fuse_elementwise", &OptimizerOptions::fuse_elementwise, FuseElementwise},
  };
  return *passes;
}

}  // namespace sextant
