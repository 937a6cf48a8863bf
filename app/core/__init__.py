"""What every room of the service stands on: settings, database, clock, errors, events, paging."""
