"""The columnar store of signals: layers of committed parts, and the queries over them."""
