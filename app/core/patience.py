"""How long the server waits for a client: for the whole of a request, and for any of an answer to be taken.

uvicorn itself waits for ever for the rest of a request that has begun. A connection that is cut here costs the others
nothing meanwhile: it is a buffer, and no thread.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import ClassVar

import h11
import structlog
from uvicorn.protocols.http.h11_impl import H11Protocol

log = structlog.get_logger(__name__)

_INCOMPLETE = (h11.IDLE, h11.SEND_BODY)
_UNANSWERED = (h11.IDLE, h11.SEND_RESPONSE)
_MESSAGE = b"The request did not come whole in time."


def make_protocol(seconds: float) -> type[asyncio.Protocol]:
    """What `uvicorn.run` takes as `http`."""
    return type("PatientProtocol", (_PatientProtocol,), {"seconds": seconds})


class _PatientProtocol(H11Protocol):
    seconds: ClassVar[float]
    _whole_by: asyncio.TimerHandle | None = None
    _taken_by: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_whole()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._stop_waiting()
        self._note_taken()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._stop_waiting()
        if self.conn.trailing_data[0]:  # the next request has begun already
            self._watch()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._taken_by = self._taken_by or self.loop.call_later(self.seconds, self._end_unread)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._note_taken()

    def _watch(self) -> None:
        if self.conn.their_state in _INCOMPLETE and not self.transport.is_closing():
            self._await_whole()
        else:
            self._stop_waiting()

    def _await_whole(self) -> None:
        """From the first byte on: more of them buy no time."""
        self._whole_by = self._whole_by or self.loop.call_later(self.seconds, self._end_incomplete)

    def _stop_waiting(self) -> None:
        if self._whole_by is not None:
            self._whole_by.cancel()
            self._whole_by = None

    def _note_taken(self) -> None:
        if self._taken_by is not None:
            self._taken_by.cancel()
            self._taken_by = None

    def _end_incomplete(self) -> None:
        self._whole_by = None
        log.info("request_too_slow", seconds=self.seconds)
        if self.conn.our_state not in _UNANSWERED:
            self.transport.abort()
            return
        if self.cycle is not None:  # what waits for the body learns that there will be none
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        status = HTTPStatus.REQUEST_TIMEOUT
        headers = [
            (b"content-type", b"text/plain; charset=utf-8"),
            (b"content-length", str(len(_MESSAGE)).encode()),
            (b"connection", b"close"),
        ]
        for event in (
            h11.Response(status_code=status, headers=headers, reason=status.phrase.encode()),
            h11.Data(data=_MESSAGE),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _end_unread(self) -> None:
        self._taken_by = None
        log.info("answer_not_taken", seconds=self.seconds)
        self.transport.abort()
