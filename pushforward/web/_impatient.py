"""Connections that say nothing are closed: they would take the place of pages."""

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from pushforward.web import _caps


class Impatient(H11Protocol):
    """HTTP as uvicorn speaks it, with a limit on the time to send the headers."""

    patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request, but not for ever."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Whoever has sent whole headers is waited for; who begins, not for ever."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._forget()
        elif self.patience is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for."""
        self._forget()
        super().connection_lost(exc)

    def _wait(self) -> None:
        seconds = _caps.HEADER_SECONDS
        self.patience = self.loop.call_later(seconds, self.transport.close)

    def _forget(self) -> None:
        if self.patience is not None:
            self.patience.cancel()
            self.patience = None
