#pragma once

namespace voussoir {

/// Sends SIGTERM to this process again, for use after a library that caught it. METIS catches SIGTERM while it works,
/// takes it for a failure of its own, and returns METIS_ERROR; the signal was meant for the process, whose own handler
/// is back by then. A program that blocks SIGTERM in all of its threads and waits for it in one, as `voussoir` does,
/// never loses it to METIS.
void send_termination_again();

}  // namespace voussoir
