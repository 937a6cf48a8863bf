"""Where the embedded broker listens, whatever the data folder is called."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

from primer.app.core.broker_socket import find_broker_socket
from primer.app.core.messages import Messenger
from primer.app.core.settings import Settings
from primer.workers.children import describe_broker, is_broker_up


def test_the_socket_lies_in_the_data_folder_where_its_path_is_short() -> None:
    assert find_broker_socket(Path("/srv/primer")) == Path("/srv/primer/broker/valkey.sock")


def test_a_long_path_gets_a_short_socket_that_is_always_the_same_and_no_other_folder_s() -> None:
    fits, too_long = Path("/" + "f" * 83), Path("/" + "f" * 84)
    assert len(os.fsencode(find_broker_socket(fits))) == 103
    assert find_broker_socket(fits).is_relative_to(fits)
    short = find_broker_socket(too_long)
    assert short.parent.name == f"primer-{os.getuid()}"
    assert len(os.fsencode(short)) <= 103
    assert find_broker_socket(too_long) == short
    assert find_broker_socket(Path("/" + "f" * 85)) != short


def test_bytes_count_and_not_characters() -> None:
    assert not find_broker_socket(Path("/" + "ä" * 50)).is_relative_to("/ä")


def test_messages_find_the_socket_whatever_is_in_its_path(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "my data" / "100 %" / "a?b#c" / "ä", min_free_bytes=0)
    broker = describe_broker(settings)
    assert broker is not None
    with subprocess.Popen(broker.command, stdout=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 30
        while not is_broker_up(settings):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert Messenger(settings.broker).is_reachable()
        process.terminate()
    assert not is_broker_up(settings)
    assert not Messenger(settings.broker).is_reachable()


def test_settings_lead_there(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "with space")
    assert settings.broker == f"redis+socket://{tmp_path}/with%20space/broker/valkey.sock"
