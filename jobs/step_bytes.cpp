#include <voussoir/jobs/detail/step_bytes.hpp>

namespace voussoir::detail {
namespace {

void put_histories(ByteWriter& out, const NamedHistories& histories) {
  out.put(static_cast<std::uint64_t>(histories.size()));
  for (const auto& [name, values] : histories) out.put(name).put(values);
}

NamedHistories get_histories(ByteReader& in) {
  NamedHistories histories;
  for (auto count = in.get<std::uint64_t>(); count > 0; --count) {
    std::string name = in.text();
    histories.emplace_back(std::move(name), in.list<double>());
  }
  return histories;
}

void put_numbers(ByteWriter& out, const std::vector<std::pair<std::string, double>>& numbers) {
  out.put(static_cast<std::uint64_t>(numbers.size()));
  for (const auto& [name, value] : numbers) out.put(name).put(value);
}

std::vector<std::pair<std::string, double>> get_numbers(ByteReader& in) {
  std::vector<std::pair<std::string, double>> numbers;
  for (auto count = in.get<std::uint64_t>(); count > 0; --count) {
    std::string name = in.text();
    numbers.emplace_back(std::move(name), in.get<double>());
  }
  return numbers;
}

}  // namespace

void put(ByteWriter& out, const NodalField& field) { out.put(field.name).put(field.components).put(field.values); }

NodalField get_field(ByteReader& in) {
  NodalField field;
  field.name = in.text();
  field.components = in.texts();
  field.values = in.list<double>();
  return field;
}

void put(ByteWriter& out, const StepResponse& response) {
  out.put(response.statement).put(static_cast<std::uint64_t>(response.peaks.size()));
  for (const ResponsePeak& peak : response.peaks) out.put(peak.quantity).put(peak.value).put(peak.at).put(peak.place);
  out.put(response.axis);
  put_histories(out, response.histories);
  put_histories(out, response.energies);
  put_histories(out, response.sums);
  out.put(static_cast<std::uint64_t>(response.recorded.size()));
  for (const RecordedHistory& recorded : response.recorded) {
    out.put(recorded.name).put(recorded.times).put(recorded.columns);
    put_histories(out, recorded.curves);
  }
  put_numbers(out, response.totals);
  put_numbers(out, response.counts);
  out.put(response.notes);
}

StepResponse get_response(ByteReader& in) {
  StepResponse response;
  response.statement = in.text();
  for (auto count = in.get<std::uint64_t>(); count > 0; --count) {
    ResponsePeak peak;
    peak.quantity = in.text();
    peak.value = in.get<double>();
    peak.at = in.get<double>();
    peak.place = in.text();
    response.peaks.push_back(std::move(peak));
  }
  response.axis = in.list<double>();
  response.histories = get_histories(in);
  response.energies = get_histories(in);
  response.sums = get_histories(in);
  for (auto count = in.get<std::uint64_t>(); count > 0; --count) {
    RecordedHistory recorded;
    recorded.name = in.text();
    recorded.times = in.list<double>();
    recorded.columns = in.texts();
    recorded.curves = get_histories(in);
    response.recorded.push_back(std::move(recorded));
  }
  response.totals = get_numbers(in);
  response.counts = get_numbers(in);
  response.notes = in.texts();
  return response;
}

void put(ByteWriter& out, const StepAccount& account) {
  out.put(account.equations).put(account.free_equations).put(account.matrix).put(account.notes).put(account.seconds);
}

StepAccount get_account(ByteReader& in) {
  StepAccount account;
  account.equations = in.get<std::int64_t>();
  account.free_equations = in.get<std::int64_t>();
  account.matrix = in.text();
  account.notes = in.texts();
  account.seconds = in.get<double>();
  return account;
}

void put(ByteWriter& out, const StepEnd& end) {
  put(out, end.response);
  put(out, end.displacement);
  put(out, end.velocity);
  out.put(end.history);
  put(out, end.account);
}

StepEnd get_end(ByteReader& in) {
  StepEnd end;
  end.response = get_response(in);
  end.displacement = get_field(in);
  end.velocity = get_field(in);
  end.history = in.text();
  end.account = get_account(in);
  return end;
}

}  // namespace voussoir::detail
