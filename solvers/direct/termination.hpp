#pragma once

namespace voussoir {

/// Sends SIGTERM to this process again after a library has caught it. METIS installs a handler for SIGTERM while it
/// works and returns METIS_ERROR when it receives the signal, which was meant for the process. By then the handler of
/// the process is installed again. A program that blocks SIGTERM in all its threads and waits for it in one, as
/// `voussoir` does, never loses it to METIS.
void send_termination_again();

}  // namespace voussoir
