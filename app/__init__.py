"""The web application: HTTP and state over `curation`."""
