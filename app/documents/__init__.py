"""Documents: what was measured of each, what was decided and why, and what another boundary would decide."""
