"""Roles and what each may do. docs/roles.md is compared with this table in the tests."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """Each may do what those before it may."""

    VIEWER = "viewer"
    CURATOR = "curator"
    OPERATOR = "operator"
    ADMIN = "admin"

    @property
    def rank(self) -> int:
        return list(Role).index(self)


class Action(StrEnum):
    """What a service asks leave for."""

    READ = "read"  # sources, profiles, jobs, documents, decisions, exports
    RULE = "rule"  # overrides, audits, vocabulary, catalogue of concepts
    SOURCES = "sources"  # register and scan sources, source rules
    PROFILES = "profiles"  # drafts and published versions
    JOBS = "jobs"  # start, pause, cancel, retry; measure concepts, probe for leaks
    EXPORTS = "exports"  # build, verify and delete exports, push them to a Hub
    USERS = "users"  # people and their tokens
    ALLOW = "allow"  # the allow-list of places that sources may name
    ARTIFACTS = "artifacts"  # models and tables
    AUDIT_LOG = "audit_log"  # read who changed what


LEAST_ROLE: dict[Action, Role] = {
    Action.READ: Role.VIEWER,
    Action.RULE: Role.CURATOR,
    Action.SOURCES: Role.OPERATOR,
    Action.PROFILES: Role.OPERATOR,
    Action.JOBS: Role.OPERATOR,
    Action.EXPORTS: Role.OPERATOR,
    Action.USERS: Role.ADMIN,
    Action.ALLOW: Role.ADMIN,
    Action.ARTIFACTS: Role.ADMIN,
    Action.AUDIT_LOG: Role.ADMIN,
}
