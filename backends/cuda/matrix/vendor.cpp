#include <algorithm>
#include <cstddef>
#include <limits>

#include <voussoir/backends/cuda/cuda_backend.hpp>
#include <voussoir/backends/cuda/runtime/cusparse_library.hpp>
#include <voussoir/backends/detail/checks.hpp>

// The peer in benchmarks: the same matrix multiplied by cuSPARSE. Nothing but a benchmark asks for it.

namespace voussoir::cuda {

#if !defined(VSR_HAS_CUSPARSE)

std::vector<std::unique_ptr<Operator>> CudaBackend::make_vendor_matrices(std::shared_ptr<const Layout>,
                                                                         const HostMatrix&) {
  return {};
}

#else

namespace {

/// The functions of cuSPARSE that are used here.
struct Cusparse {
  decltype(&cusparseCreateConstCsr) create_csr = nullptr;
  decltype(&cusparseDestroySpMat) destroy_matrix = nullptr;
  decltype(&cusparseCreateDnVec) create_vector = nullptr;
  decltype(&cusparseDestroyDnVec) destroy_vector = nullptr;
  decltype(&cusparseCreateDnMat) create_block = nullptr;
  decltype(&cusparseDestroyDnMat) destroy_block = nullptr;
  decltype(&cusparseSpMV_bufferSize) product_room = nullptr;
  decltype(&cusparseSpMV) product = nullptr;
  decltype(&cusparseSpMM_bufferSize) block_product_room = nullptr;
  decltype(&cusparseSpMM) block_product = nullptr;
  decltype(&cusparseCreateMatDescr) create_kind = nullptr;
  decltype(&cusparseDestroyMatDescr) destroy_kind = nullptr;
  decltype(&cusparseDbsrmv) bsr_product = nullptr;  // gone in some future version: then there is no BSR peer
  bool found = false;

  void check(cusparseStatus_t status, const char* what) const { CusparseLibrary::instance().check(status, what); }
};

Cusparse load_cusparse() {
  Cusparse all;
  const CusparseLibrary& library = CusparseLibrary::instance();
  const auto take = [&](auto& function, const char* name) { return library.take(function, name); };
  all.found = library.found() && take(all.create_csr, "cusparseCreateConstCsr") &&
              take(all.destroy_matrix, "cusparseDestroySpMat") && take(all.create_vector, "cusparseCreateDnVec") &&
              take(all.destroy_vector, "cusparseDestroyDnVec") && take(all.create_block, "cusparseCreateDnMat") &&
              take(all.destroy_block, "cusparseDestroyDnMat") && take(all.product_room, "cusparseSpMV_bufferSize") &&
              take(all.product, "cusparseSpMV") && take(all.block_product_room, "cusparseSpMM_bufferSize") &&
              take(all.block_product, "cusparseSpMM");
  if (take(all.create_kind, "cusparseCreateMatDescr") && take(all.destroy_kind, "cusparseDestroyMatDescr"))
    (void)take(all.bsr_product, "cusparseDbsrmv");
  return all;
}

const Cusparse& cusparse() {
  static const Cusparse all = load_cusparse();
  return all;
}

/// Rows on the device, of blocks or of single entries.
class VendorMatrix : public Operator {
 public:
  VendorMatrix(CudaBackend& backend, std::shared_ptr<const Layout> layout, const HostMatrix& rows)
      : backend_(backend),
        layout_(std::move(layout)),
        memory_(layout_->memory(0)),
        handle_(*memory_),
        block_rows_(rows.block_rows()),
        blocks_(static_cast<std::int64_t>(rows.column.size())),
        row_start_(memory_, rows.row_start.size()),
        column_(memory_, std::span<const std::int32_t>(rows.column)),
        value_(memory_, std::span<const double>(rows.value)) {
    auto start = row_start_.write_host();
    for (std::size_t i = 0; i < start.size(); ++i) start[i] = static_cast<std::int32_t>(rows.row_start[i]);
    row_start_.drop_host_mirror();
    column_.drop_host_mirror();
    value_.drop_host_mirror();
  }

  const std::shared_ptr<const Layout>& layout() const override { return layout_; }
  double apply_dot(const Vector& x, Vector& y) const override {
    apply(x, y);
    return backend_.dot(x, y);
  }
  std::size_t bytes() const override { return row_start_.bytes() + column_.bytes() + value_.bytes() + room_.bytes(); }
  std::size_t bytes_moved() const override {
    return row_start_.bytes() + column_.bytes() + value_.bytes() +
           2 * sizeof(double) * static_cast<std::size_t>(layout_->size());
  }

 protected:
  void check_vectors(const Vector& x, const Vector& y) const {
    voussoir::detail::require_layout(*layout_, x, "a product of cuSPARSE");
    voussoir::detail::require_alike(x, y, "a product of cuSPARSE");
  }
  /// Room for the library to work in.
  void* room(std::size_t bytes) const {
    if (room_.bytes() < bytes || room_.empty())
      room_ = Array<std::byte>(memory_, std::max<std::size_t>(bytes, std::size_t{256}));
    return room_.write_device();
  }

  CudaBackend& backend_;
  std::shared_ptr<const Layout> layout_;
  std::shared_ptr<DeviceMemory> memory_;
  CusparseHandle handle_;
  std::int64_t block_rows_;
  std::int64_t blocks_;
  Array<std::int32_t> row_start_, column_;
  Array<double> value_;
  mutable Array<std::byte> room_;
};

class VendorCsr final : public VendorMatrix {
 public:
  VendorCsr(CudaBackend& backend, std::shared_ptr<const Layout> layout, const HostMatrix& rows)
      : VendorMatrix(backend, std::move(layout), rows) {
    DeviceSection section(*memory_);
    cusparse().check(cusparse().create_csr(&matrix_, block_rows_, block_rows_, blocks_, row_start_.read_device(),
                                           column_.read_device(), value_.read_device(), CUSPARSE_INDEX_32I,
                                           CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F),
                     "describing a matrix");
  }
  ~VendorCsr() override { (void)cusparse().destroy_matrix(matrix_); }
  VendorCsr(const VendorCsr&) = delete;
  VendorCsr& operator=(const VendorCsr&) = delete;

  std::string describe() const override { return "cuSPARSE CSR"; }
  void apply(const Vector& x, Vector& y) const override {
    check_vectors(x, y);
    DeviceSection section(*memory_);
    // The library's descriptions of vectors are not const; it reads x all the same.
    double* from = const_cast<double*>(x.part(0).read_device());
    double* to = y.part(0).write_device();
    x.columns() == 1 ? one(from, to) : many(from, to, x.columns());
  }

 private:
  void one(double* from, double* to) const {
    const Cusparse& c = cusparse();
    const double plus = 1, none = 0;
    cusparseDnVecDescr_t x = nullptr, y = nullptr;
    c.check(c.create_vector(&x, block_rows_, from, CUDA_R_64F), "describing a vector");
    c.check(c.create_vector(&y, block_rows_, to, CUDA_R_64F), "describing a vector");
    if (!sized_) {
      c.check(c.product_room(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &plus, matrix_, x, &none, y, CUDA_R_64F,
                             CUSPARSE_SPMV_ALG_DEFAULT, &room_bytes_),
              "querying the workspace size");
      sized_ = true;
    }
    const cusparseStatus_t status = c.product(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &plus, matrix_, x, &none, y,
                                              CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT, room(room_bytes_));
    (void)c.destroy_vector(x);
    (void)c.destroy_vector(y);
    c.check(status, "a product");
  }

  void many(double* from, double* to, int columns) const {
    const Cusparse& c = cusparse();
    const double plus = 1, none = 0;
    cusparseDnMatDescr_t x = nullptr, y = nullptr;
    c.check(c.create_block(&x, block_rows_, columns, columns, from, CUDA_R_64F, CUSPARSE_ORDER_ROW), "a block");
    c.check(c.create_block(&y, block_rows_, columns, columns, to, CUDA_R_64F, CUSPARSE_ORDER_ROW), "a block");
    if (block_columns_ != columns) {
      c.check(c.block_product_room(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &plus,
                                   matrix_, x, &none, y, CUDA_R_64F, CUSPARSE_SPMM_ALG_DEFAULT, &block_room_bytes_),
              "querying the workspace size");
      block_columns_ = columns;
    }
    const cusparseStatus_t status =
        c.block_product(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &plus, matrix_, x,
                        &none, y, CUDA_R_64F, CUSPARSE_SPMM_ALG_DEFAULT, room(block_room_bytes_));
    (void)c.destroy_block(x);
    (void)c.destroy_block(y);
    c.check(status, "a product with several columns");
  }

  cusparseConstSpMatDescr_t matrix_ = nullptr;
  mutable bool sized_ = false;
  mutable int block_columns_ = 0;
  mutable std::size_t room_bytes_ = 0, block_room_bytes_ = 0;
};

class VendorBsr final : public VendorMatrix {
 public:
  VendorBsr(CudaBackend& backend, std::shared_ptr<const Layout> layout, const HostMatrix& rows)
      : VendorMatrix(backend, std::move(layout), rows), block_size_(rows.block_size) {
    cusparse().check(cusparse().create_kind(&kind_), "describing a matrix");  // general, indices from 0
  }
  ~VendorBsr() override { (void)cusparse().destroy_kind(kind_); }
  VendorBsr(const VendorBsr&) = delete;
  VendorBsr& operator=(const VendorBsr&) = delete;

  std::string describe() const override { return "cuSPARSE BSR"; }
  void apply(const Vector& x, Vector& y) const override {
    check_vectors(x, y);
    if (x.columns() != 1) throw Error(ErrorCode::unavailable, "this product of cuSPARSE takes one vector at a time");
    DeviceSection section(*memory_);
    const double plus = 1, none = 0;
    cusparse().check(
        cusparse().bsr_product(handle_, CUSPARSE_DIRECTION_ROW, CUSPARSE_OPERATION_NON_TRANSPOSE,
                               static_cast<int>(block_rows_), static_cast<int>(block_rows_), static_cast<int>(blocks_),
                               &plus, kind_, value_.read_device(), row_start_.read_device(), column_.read_device(),
                               block_size_, x.part(0).read_device(), &none, y.part(0).write_device()),
        "a product of blocks");
  }

 private:
  int block_size_;
  cusparseMatDescr_t kind_ = nullptr;
};

/// The same matrix by single entries.
HostMatrix single_entries(const HostMatrix& m) {
  const int b = m.block_size;
  HostMatrix all;
  all.row_start.reserve(static_cast<std::size_t>(m.block_rows()) * b + 1);
  all.column.reserve(m.value.size());
  all.value.reserve(m.value.size());
  all.row_start.push_back(0);
  for (std::int64_t i = 0; i < m.block_rows(); ++i)
    for (int r = 0; r < b; ++r) {
      for (std::int64_t k = m.row_start[i]; k < m.row_start[i + 1]; ++k)
        for (int c = 0; c < b; ++c) {
          all.column.push_back(m.column[k] * b + c);
          all.value.push_back(m.value[(static_cast<std::size_t>(k) * b + r) * b + c]);
        }
      all.row_start.push_back(static_cast<std::int64_t>(all.column.size()));
    }
  return all;
}

}  // namespace

std::vector<std::unique_ptr<Operator>> CudaBackend::make_vendor_matrices(std::shared_ptr<const Layout> layout,
                                                                         const HostMatrix& rows) {
  std::vector<std::unique_ptr<Operator>> all;
  // The library knows one GPU, and rows of which 32 bits can tell the start.
  const bool fits = rows.value.size() < static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max());
  if (!cusparse().found || devices() != 1 || !fits) return all;
  if (rows.block_size == 1)
    all.push_back(std::make_unique<VendorCsr>(*this, layout, rows));
  else
    all.push_back(std::make_unique<VendorCsr>(*this, layout, single_entries(rows)));
  if (rows.block_size > 1 && cusparse().bsr_product) all.push_back(std::make_unique<VendorBsr>(*this, layout, rows));
  return all;
}

#endif

}  // namespace voussoir::cuda
