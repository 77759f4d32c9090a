#pragma once
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <voussoir/backends/array.hpp>
#include <voussoir/backends/element_services.hpp>
#include <voussoir/backends/error.hpp>
#include <voussoir/backends/krylov_services.hpp>
#include <voussoir/backends/matrix_services.hpp>
#include <voussoir/backends/vector_services.hpp>

namespace voussoir {

/// A backend and whether it can be used on this machine.
struct BackendInfo {
  std::string name;     ///< "openmp", "debug", "cuda", …
  bool usable = false;  ///< whether open() would succeed on this machine now
  std::string reason;   ///< the devices that it would use, or why it cannot be used
};

/// How element matrices are integrated, if a backend has several methods (FEStudio's levels, docs/backends.md).
enum class Integration {
  automatic,  ///< the method measured to be fastest for the element type
  thread,     ///< level I: a thread per element
  block,      ///< level II: a thread block per element, a thread per integration point, pairwise sums
  blocks,     ///< level IIa: several elements per thread block of 32 threads
  pairs       ///< a thread per pair of nodes, integration points in shared memory
};
/// Where element matrices are assembled to a stored matrix.
enum class Assembly {
  automatic,  ///< the backend chooses
  device,     ///< integration, constraints and assembly on the device that stores the matrix
  host        ///< element matrices from the device, assembly on the host
};
/// Methods that a user may select. By default the backend chooses.
struct WorkChoices {
  Integration integration = Integration::automatic;  ///< how element matrices are integrated
  Assembly assembly = Assembly::automatic;           ///< where stored matrices are assembled
  bool deterministic = true;                         ///< false allows sums in any order, where that is faster
};
/// The method as the command line spells it: "auto", "thread", "block", "blocks", "pairs".
const char* to_string(Integration integration);
/// The place as the command line spells it: "auto", "device", "host".
const char* to_string(Assembly assembly);

/// A compute backend: memory and services on one or several devices. An object, not a global; several
/// may exist at once. An analysis uses one for everything from the uploaded elements to the solution.
///
/// Every backend has the services for vectors, elements, matrices and Krylov methods, whose functions are called on it
/// directly. Those of other subjects, such as MultigridServices, are looked up by their type, and a backend may lack
/// them.
class Backend : public VectorServices, public ElementServices, public MatrixServices, public KrylovServices {
 public:
  /// Opens a backend by its specification:
  ///
  ///   auto        CUDA where a plugin, a driver and a device are found, else OpenMP
  ///   openmp      all threads            openmp:8     eight
  ///   debug       one pseudo-device with separate, poisoned memory; debug:2, two of them
  ///   cuda        the first GPU; cuda:0,1 two of them; cuda:0,0 two logical devices on one
  ///   NAME[:ARG]  a plugin libvoussoir_NAME.so
  ///
  /// An explicit name never falls back: it throws Error (unavailable) that says why.
  static std::shared_ptr<Backend> open(std::string_view specification = "auto");
  /// All backends found on this machine, and the reasons why some cannot be used.
  static std::vector<BackendInfo> available();

  ~Backend() override = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  virtual std::string name() const = 0;      ///< the specification that opens it again
  virtual std::string describe() const = 0;  ///< one line of text: devices, threads, and why it was chosen
  virtual int devices() const = 0;           ///< number of logical devices
  /// Number of host threads that the backend may use; 0 if it does not specify one.
  virtual int threads() const { return 0; }
  /// The memory of a device, which is counted from 0. Its arrays share ownership.
  virtual const std::shared_ptr<DeviceMemory>& memory(int device) const = 0;
  std::size_t bytes_in_use() const;  ///< memory allocated now, summed over all devices
  std::size_t bytes_peak() const;    ///< largest allocation so far, summed over all devices
  /// Selects methods from now on. Throws Error (unavailable) for a method that this backend does not have.
  virtual void choose(const WorkChoices& choices);
  const WorkChoices& choices() const { return choices_; }  ///< the methods selected by choose()
  /// Waits until all enqueued work is done. Services whose results stay on a device may return earlier.
  virtual void wait() {}
  /// Runs `work` and returns the elapsed time in seconds, measured on the device if it has a clock.
  virtual double time(const std::function<void()>& work);

  /// An array of `size` entries with undefined values on a device.
  template <class T>
  Array<T> make_array(int device, std::size_t size) const {
    return Array<T>(memory(device), size);
  }

  /// Distributes a numbered model over the devices of this backend and uploads it. The description may be destroyed
  /// afterwards.
  std::unique_ptr<DeviceModel> make_model(const ModelDescription& description) const;
  /// Memory for the history of the elements of a model, with undefined values; null where no element has a history.
  std::unique_ptr<ElementHistory> make_history(const DeviceModel& model) const;

  // --- services ------------------------------------------------------------------------------------------------
  /// A service by its type; throws Error (unavailable) where this backend does not have it.
  template <BackendService T>
  T& service() const {
    if (T* found = find<T>()) return *found;
    throw_no_service(T::service_name);
  }
  /// As service(), but null where this backend does not have it.
  template <BackendService T>
  T* find() const {
    return static_cast<T*>(find_service(T::service_name));
  }
  /// Offers a service from now on, in place of an earlier one of the same name. It must live as long as the backend.
  template <BackendService T>
  void provide(T& service) {
    offer_service(T::service_name, service);
  }
  std::vector<std::string> services() const;  ///< names of all services, sorted

  // Defaults in terms of the backend's vector operations and products; a backend overrides those it can do faster.
  double apply_dot(const BlockDiagonal& diagonal, const Vector& r, Vector& z) override;
  CgOutcome cg(const Operator& a, const Operator* preconditioner, const Vector& b, Vector& x,
               const CgRequest& request) override;
  std::vector<CgOutcome> cg_columns(const Operator& a, const Operator* preconditioner, const Vector& b, Vector& x,
                                    const CgRequest& request, std::span<const double> relative_tolerances) override;

 protected:
  Backend();
  WorkChoices choices_;  ///< the methods that choose() selected

 private:
  Service* find_service(std::string_view name) const;
  void offer_service(std::string_view name, Service& service);
  [[noreturn]] void throw_no_service(std::string_view name) const;

  std::map<std::string, Service*, std::less<>> services_;
};

}  // namespace voussoir
