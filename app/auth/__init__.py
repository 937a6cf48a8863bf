"""Who may: people, roles, sessions, tokens, and the record of what they changed."""
