"""Everything that an installation may set, from environment variables that begin with PRIMER_.

The defaults are the embedded service: state in SQLite and files below one folder, on this machine alone.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Annotated

from pydantic import Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from primer.app.core.broker_socket import describe_socket_url, find_broker_socket


class Settings(BaseSettings):
    """`data_dir` holds runs, exports and, embedded, the database and the broker. Times are seconds."""

    model_config = SettingsConfigDict(env_prefix="PRIMER_", frozen=True, extra="ignore")

    data_dir: Path = Path("primer-data")
    database_url: SecretStr | None = Field(default=None, description="SQLAlchemy URL; default: SQLite in data_dir.")
    broker_url: SecretStr | None = Field(default=None, description="Redis URL; default: the embedded server's socket.")
    host: str = "127.0.0.1"
    port: int = 8642
    allowed_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        default=("127.0.0.1", "localhost"), description="Host headers that are answered, separated by commas."
    )
    is_https: bool = Field(
        default=False, description="Whether browsers reach the service by https: cookies say Secure."
    )

    heartbeat: float = Field(default=10, gt=0, description="A worker says this often that it lives.")
    lease: float = Field(
        default=60, gt=0, description="A task whose worker was silent for so long is given to another."
    )
    visibility_timeout: int = Field(
        default=90_000, ge=3_600, description="The broker delivers again what was taken and not acknowledged."
    )
    max_attempts: int = Field(default=3, ge=1, description="A task that ended its process so often is put aside.")
    steward_interval: float = Field(
        default=5, gt=0, description="How often lost leases and lost messages are looked for."
    )
    resend_after: float = Field(default=60, gt=0, description="A message that nobody took for so long may be lost.")
    messages_per_job: int = Field(default=64, ge=1, description="Tasks of a job that are announced at once.")

    min_free_bytes: int = Field(
        default=2 << 30, ge=0, description="A job does not start with less free disk than this."
    )
    session_hours: float = Field(default=12, gt=0, description="A browser is signed in for so long.")
    login_attempts_per_name: int = Field(
        default=10, ge=1, description="Wrong passwords for one name in a login window."
    )
    login_attempts_per_address: int = Field(default=100, ge=1, description="The same, from one address.")
    login_window: float = Field(default=300, gt=0, description="For so long an attempt counts.")
    password_memory_kib: int = Field(default=65_536, ge=8, description="Memory that hashing a password takes (argon2).")
    password_rounds: int = Field(default=3, ge=1, description="Rounds of hashing a password (argon2).")
    max_body_bytes: int = Field(default=10_000_000, ge=1, description="A request with a longer body is refused.")
    client_patience: float = Field(
        default=60, gt=0, description="A request must have come whole, and some of an answer be taken, within so long."
    )
    alive_file: Path | None = Field(
        default=None, description="A worker touches it while it reaches the database: for health checks of containers."
    )
    metrics_bind: str | None = Field(
        default=None,
        pattern=r"^[^:]+:[0-9]{1,5}$",
        description="host:port where /metrics is answered to anybody; default: beside the API, to who may read.",
    )
    log_format: str = Field(default="json", pattern="^(json|text)$")

    @model_validator(mode="before")
    @classmethod
    def _split_hosts(cls, values: dict[str, object]) -> dict[str, object]:
        hosts = values.get("allowed_hosts")
        if isinstance(hosts, str):
            values = {**values, "allowed_hosts": tuple(host.strip() for host in hosts.split(",") if host.strip())}
        return values

    @cached_property
    def database(self) -> str:
        """The SQLAlchemy URL."""
        if self.database_url is not None:
            return self.database_url.get_secret_value()
        return f"sqlite:///{self.data_dir.resolve() / 'primer.sqlite3'}"

    @cached_property
    def broker(self) -> str:
        """The Redis URL."""
        if self.broker_url is not None:
            return self.broker_url.get_secret_value()
        return describe_socket_url(find_broker_socket(self.data_dir))

    @property
    def indexes(self) -> Path:
        """Where the indexes of runs lie: disposable, and built anew when missing."""
        return self.data_dir / "indexes"

    @property
    def runs(self) -> Path:
        """Where jobs' run folders lie; every API and worker host sees the same."""
        return self.data_dir / "runs"
